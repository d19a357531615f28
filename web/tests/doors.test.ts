// The addresses of doors, which operators copy into clients.
import { describe, expect, it } from "vitest";

import { DOORS, doorAddress } from "../src/features/agents/doors";

describe("addresses of doors", () => {
  it("begin with the address of the page and differ for each door", () => {
    const addresses = DOORS.map((door) => doorAddress(door, "https://chat.example.org/base", "agent-1"));

    expect(addresses).toContain("https://chat.example.org/base/v1");
    expect(new Set(addresses).size).toBe(DOORS.length);
    expect(addresses.every((address) => address.startsWith("https://chat.example.org/base/"))).toBe(true);
  });
});
