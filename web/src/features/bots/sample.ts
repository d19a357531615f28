// An example of an event that a user describes to test routes.

export type Sample = {
  type: string;
  text: string;
  group: string;
  sender: string;
  role: string;
  mentions: boolean;
  at: string;
};

export const SAMPLE: Sample = {
  type: "message.received",
  text: "",
  group: "",
  sender: "",
  role: "",
  mentions: false,
  at: "",
};

/** Returns the event in the format of the platforms' events, without empty fields. */
export function eventOf(sample: Sample): Record<string, unknown> {
  const sender = { id: sample.sender || "somebody" };
  const chat = sample.group
    ? { chat_type: "group", chat_id: sample.group, group: { id: sample.group }, mentions_bot: sample.mentions }
    : { chat_type: "private", chat_id: sender.id };
  return {
    type: sample.type,
    ...chat,
    sender,
    ...(sample.text && { text: sample.text }),
    ...(sample.group && sample.role && { role: sample.role }),
    ...(sample.at && { timestamp: new Date(sample.at).getTime() }),
  };
}
