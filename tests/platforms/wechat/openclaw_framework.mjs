// Stands in for the framework that loads Tencent's client: the two functions that the client takes from it. The login has a
// fixed address, so that the requests to it are sent to the simulator.
import { register } from "node:module";

const framework = `
export const resolvePreferredOpenClawTmpDir = () => process.env.PEER_FOLDER;
export const normalizeAccountId = (id) => id;
export const withFileLock = (path, options, work) => work();
`;
const resolver = `
const framework = ${JSON.stringify("data:text/javascript," + encodeURIComponent(framework))};
export async function resolve(name, context, next) {
  return name.startsWith("openclaw/") ? { url: framework, format: "module", shortCircuit: true } : next(name, context);
}
`;
register("data:text/javascript," + encodeURIComponent(resolver));

const send = globalThis.fetch;
globalThis.fetch = (address, options) =>
  send(String(address).replace("https://ilinkai.weixin.qq.com", process.env.GATEWAY), options);
