// Values that the browser keeps for this page: preferences, and unsent text.
const PREFIX = "parlour.";

export function read(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null; // storage is not available: nothing is kept
  }
}

export function write(name: string, value: string): void {
  try {
    if (value) localStorage.setItem(PREFIX + name, value);
    else localStorage.removeItem(PREFIX + name);
  } catch {
    // storage is full or not available: the page works without it
  }
}
