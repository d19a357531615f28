// The users of the tests.
export type Person = { name: string; email: string; password: string };

export const OWNER: Person = { name: "Olga", email: "olga@example.org", password: "a sentence to remember" };
export const VIEWER: Person = { name: "Viktor", email: "viktor@example.org", password: "only looking around here" };
