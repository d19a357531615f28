// Runs an agent with the unmodified client of AG-UI, once for each run that is given, and prints what happened as JSON.
// Arguments: the folder of the packages, and the options as JSON.
const [, , packages, options] = process.argv;
const { HttpAgent } = await import(`${packages}/@ag-ui/client/dist/index.mjs`);
const { url, headers, thread, runs } = JSON.parse(options);
const agent = new HttpAgent({ url, headers, threadId: thread });
const happened = [];
for (const { id, content, abortAt, ...rest } of runs) {
  if (content) agent.addMessage({ id: `message of ${id}`, role: "user", content });
  const events = [];
  let error = null;
  const onEvent = ({ event }) => {
    events.push(event);
    if (abortAt && event.type === abortAt) agent.abortRun();
  };
  try {
    await agent.runAgent({ runId: id, ...rest }, { onEvent });
  } catch (problem) {
    error = { message: problem.message, status: problem.status, payload: problem.payload };
  }
  happened.push({ events, error, messages: structuredClone(agent.messages) });
}
console.log(JSON.stringify(happened));
