// The path prefix below which the page is served, such as /chat behind a proxy; the Host writes it into the page.

/** The prefix without a slash at its end; empty if there is none. The development server has "./" there. */
export const BASE = (document.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? "").replace(
  /^\.?\/$|\/$/,
  "",
);

/** Returns the address of a path of the Host or the page. */
export const within = (path: string): string => BASE + path;
