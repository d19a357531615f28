// Money with its currency, and moments with their date, in both languages.
import { afterEach, describe, expect, it } from "vitest";

import { leaves } from "../src/components/LeaveGuard";
import { formatCost, formatPrice, formatTime, setCurrency } from "../src/lib/format";
import { changeLanguage } from "../src/lib/language";

afterEach(async () => {
  setCurrency("");
  await changeLanguage("en");
});

describe("a cost", () => {
  it("is shown with the currency of the Host", () => {
    setCurrency("USD");
    expect([formatCost(0), formatCost(50), formatCost(1234), formatCost(1_500_000)]).toEqual([
      "$0",
      "<$0.0001",
      "$0.0012",
      "$1.50",
    ]);
    setCurrency("CNY");
    expect(formatCost(1_500_000)).toBe("CN¥1.50");
  });

  it("has no currency where the providers differ", () => {
    expect([formatCost(0), formatCost(50), formatCost(1234), formatCost(1_500_000)]).toEqual([
      "0",
      "<0.0001",
      "0.0012",
      "1.50",
    ]);
  });

  it("is formatted for the language", async () => {
    await changeLanguage("zh-Hans");
    setCurrency("CNY");
    expect(formatCost(1_500_000)).toBe("¥1.50");
  });

  it("is priced in the provider's currency where the Host has none", () => {
    expect([formatPrice(2, "CNY"), formatPrice(0.125, "CNY")]).toEqual(["CN¥2", "CN¥0.125"]);
    setCurrency("EUR");
    expect(formatPrice(10, "CNY")).toBe("€10");
  });
});

describe("a date", () => {
  it("always has its date, and its year where it is another one", () => {
    const now = new Date();
    const today = new Date(now.getFullYear(), now.getMonth(), now.getDate(), 9, 5, 7).getTime();
    const month = new Intl.DateTimeFormat("en", { month: "short" }).format(today);
    expect(formatTime(today, "en")).toBe(`${month} ${now.getDate()}, 09:05:07`);
    expect(formatTime(new Date(2019, 2, 4, 9, 5, 7).getTime(), "en")).toBe("Mar 4, 2019, 09:05:07");
    expect(formatTime(null, "en")).toBe("–");
  });
});

describe("leaving a form", () => {
  const at = (pathname: string, tab?: string) => ({ pathname, search: tab ? { tab } : {} });

  it("is another page, or another tab where the form is in one", () => {
    expect(leaves(at("/bots/1", "routes"), at("/bots/1", "events"), false)).toBe(true);
    expect(leaves(at("/agents/1", "form"), at("/agents/1", "resources"), true)).toBe(false);
    expect(leaves(at("/agents/1"), at("/agents"), true)).toBe(true);
    expect(leaves(at("/agents/1", "form"), at("/agents/1", "form"), false)).toBe(false);
  });
});
