// Drives Tencent's own client, unmodified, against the simulated gateway, and prints one JSON line for each step.
import { writeFileSync } from "node:fs";

const { GATEWAY, PACKAGE, PEER_FOLDER } = process.env;
const load = (path) => import(`${PACKAGE}/dist/src/${path}.js`);
const api = await load("api/api");
const { startWeixinLoginWithQr, waitForWeixinLogin } = await load("auth/login-qr");
const { downloadAndDecryptBuffer } = await load("cdn/pic-decrypt");
const { uploadFileToWeixin, uploadFileAttachmentToWeixin } = await load("cdn/upload");
const show = (step, value) => process.stdout.write(`${JSON.stringify({ step, ...value })}\n`);

const begun = await startWeixinLoginWithQr({ accountId: "peer", force: true });
show("code", { link: begun.qrcodeUrl, message: begun.message });
const login = await waitForWeixinLogin({ sessionKey: begun.sessionKey, timeoutMs: 30_000 });
show("login", { connected: login.connected, account: login.accountId });

const server = { baseUrl: GATEWAY, token: login.botToken };
await api.notifyStart(server);
const updates = await api.getUpdates({ ...server, get_updates_buf: "", timeoutMs: 20_000 });
const [message] = updates.msgs;
const [text, picture] = message.item_list;
const media = picture.image_item.media;
const content = await downloadAndDecryptBuffer(media.encrypt_query_param, media.aes_key, `${GATEWAY}/c2c`, "peer");
show("received", { id: String(message.message_id), text: text.text_item.text, picture: content.toString("base64") });

const to = message.from_user_id;
const send = (item) =>
  api.sendMessage({
    ...server,
    body: {
      msg: {
        from_user_id: "", to_user_id: to, client_id: "peer-1", message_type: 2, message_state: 2, item_list: [item],
        context_token: message.context_token,
      },
    },
  });
const answer = await send({ type: 1, text_item: { text: `you said: ${text.text_item.text}` } });
const config = await api.getConfig({ ...server, ilinkUserId: to, contextToken: message.context_token });
await api.sendTyping({ ...server, body: { ilink_user_id: to, typing_ticket: config.typing_ticket, status: 1 } });
show("answered", { id: String(answer.message_id) });

const file = `${PEER_FOLDER}/picture.png`;
writeFileSync(file, "a picture of the peer");
for (const upload of [uploadFileToWeixin, uploadFileAttachmentToWeixin]) {
  const place = { filePath: file, fileName: "picture.png", toUserId: to, opts: server, cdnBaseUrl: `${GATEWAY}/c2c` };
  const { downloadEncryptedQueryParam, aeskey, fileSizeCiphertext } = await upload(place);
  const sent = {
    encrypt_query_param: downloadEncryptedQueryParam, aes_key: Buffer.from(aeskey).toString("base64"), encrypt_type: 1,
  };
  await send(
    upload === uploadFileToWeixin
      ? { type: 2, image_item: { media: sent, mid_size: fileSizeCiphertext } }
      : { type: 4, file_item: { media: sent, file_name: "picture.png", len: "21" } },
  );
}
const stale = await api.getUpdates({ ...server, token: "stale", get_updates_buf: "", timeoutMs: 5_000 });
show("end", { stale: stale.ret });
