// The login to a platform by QR code: what the card shows in each state, and what it sends for the next one.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";

import type { Bot, BotLogin } from "../src/api/types";
import { LoginCard } from "../src/features/bots/LoginCard";

const BOT: Bot = {
  bot_id: "b1",
  name: "WeChat",
  adapter: "wechat",
  adapter_config: {},
  secrets_set: [],
  enabled: true,
  keeps_heard_messages: true,
  status: { state: "failed", since: null, last_error: null },
};

/** A Host whose answers are given by hand. */
class Steps {
  readonly asked: ({ session: string; code: string } | null)[] = [];
  private answers: ((step: BotLogin) => void)[] = [];

  readonly request = (_botId: string, step: { session: string; code: string } | null) => {
    this.asked.push(step);
    return new Promise<BotLogin>((resolve) => this.answers.push(resolve));
  };

  answer(state: BotLogin["state"], fields: Partial<BotLogin> = {}) {
    const session = state === "confirmed" || state === "expired" ? null : `session ${this.asked.length}`;
    this.answers.shift()!({
      state,
      session,
      qr: session ? ["10", "01"] : null,
      link: null,
      code_is_wrong: false,
      ...fields,
    });
  }
}

function shown(): Steps {
  const steps = new Steps();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <LoginCard bot={BOT} request={steps.request} />
    </QueryClientProvider>,
  );
  fireEvent.click(screen.getByRole("button", { name: "Log in with a QR code" }));
  return steps;
}

const asks = (steps: Steps, number: number) => expect.poll(() => steps.asked.length, { timeout: 5000 }).toBe(number);

it("follows a login from the first code to the end", async () => {
  const steps = shown();
  await asks(steps, 1);
  steps.answer("waiting");
  const code = await screen.findByRole("img", { name: "QR code to log in" });
  expect(code.querySelector("path")!.getAttribute("d")).toBe("M4 4h1v1h-1zM5 5h1v1h-1z");
  await asks(steps, 2);
  expect(steps.asked[1]).toEqual({ session: "session 1", code: "" });
  steps.answer("scanned");
  await screen.findByText("Scanned. Confirm the login on the phone.");
  await asks(steps, 3);
  steps.answer("refreshed");
  await screen.findByText("The QR code had expired. Scan the new one.");
  await asks(steps, 4);
  steps.answer("confirmed");
  await screen.findByText("Logged in. The bot is connecting.");
  expect(screen.queryByRole("img")).toBeNull();
  expect(steps.asked).toHaveLength(4);
});

it("waits for the digits of the phone, and asks again if they are wrong", async () => {
  const steps = shown();
  await asks(steps, 1);
  steps.answer("code_needed");
  fireEvent.change(await screen.findByLabelText("Digits"), { target: { value: "12x3" } });
  expect(steps.asked).toHaveLength(1);
  fireEvent.click(screen.getByRole("button", { name: "Continue" }));
  await asks(steps, 2);
  expect(steps.asked[1]).toEqual({ session: "session 1", code: "123" });
  steps.answer("code_needed", { code_is_wrong: true });
  await screen.findByText("These digits are wrong. Enter the ones that the phone shows.");
});

it("offers a new start when no further code is fetched", async () => {
  const steps = shown();
  await asks(steps, 1);
  steps.answer("expired");
  await screen.findByText("The QR code expired. Start the login again.");
  fireEvent.click(screen.getByRole("button", { name: "Start again" }));
  await asks(steps, 2);
  expect(steps.asked[1]).toBeNull();
});
