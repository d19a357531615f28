// Frames of the chat socket, of replays and of the live socket, recorded from a Host; only ids are shortened.
import type { ChatFrame,LiveFrame,ReplayFrame } from "../../src/api/frames";

/** An answer with a tool call, a cancelled run, a failed run, a refused cancel, a pong and a broadcast. */
export const answers = [
  {"type": "connected", "session": "default", "agent_id": "id-1", "conversation_id": "id-2", "seq": 0},
  {"type": "accepted", "id": "m1", "event_id": "chat:id-1:7:default:m1", "seq": 0},
  {"type": "run", "run_id": "id-3", "status": "running", "seq": 1795009581077000},
  {"type": "said", "id": "m1", "text": "Hi", "contents": [], "event_id": "chat:id-1:7:default:m1", "seq": 1795009581077000},
  {"type": "tool", "run_id": "id-3", "tool_call_id": "call-1", "tool_name": "time.now", "status": "started", "seq": 1795009581285000},
  {"type": "tool", "run_id": "id-3", "tool_call_id": "call-1", "tool_name": "time.now", "status": "completed", "seq": 1795009581291000},
  {"type": "thinking", "run_id": "id-3", "content": "A greeting.", "seq": 1795009581304000},
  {"type": "delta", "run_id": "id-3", "content": "Hello", "seq": 1795009581304002},
  {"type": "message", "run_id": "id-3", "message": {"role": "assistant", "content": "Hello", "reasoning": "A greeting.", "metadata": {"model_id": "id-4", "tokens": {"counted": 420, "estimated": 368}}}, "seq": 1795009581310000},
  {"type": "run", "run_id": "id-3", "status": "completed", "seq": 1795009581311000},
  {"type": "accepted", "id": "m2", "event_id": "chat:id-1:7:default:m2", "seq": 1795009581311000},
  {"type": "run", "run_id": "id-5", "status": "running", "seq": 1795009581315000},
  {"type": "said", "id": "m2", "text": "Again", "contents": [], "event_id": "chat:id-1:7:default:m2", "seq": 1795009581315000},
  {"type": "delta", "run_id": "id-5", "content": "It is", "seq": 1795009581329001},
  {"type": "run", "run_id": "id-5", "status": "cancelled", "seq": 1795009581338000},
  {"type": "accepted", "id": "m3", "event_id": "chat:id-1:7:default:m3", "seq": 1795009581338000},
  {"type": "run", "run_id": "id-6", "status": "running", "seq": 1795009581345000},
  {"type": "said", "id": "m3", "text": "Fail", "contents": [], "event_id": "chat:id-1:7:default:m3", "seq": 1795009581345000},
  {"type": "error", "code": "model.key_refused", "message": "The model service refused access: its key or account needs the operator's attention.", "in_history": true, "run_id": "id-6", "seq": 1795009581357000},
  {"type": "run", "run_id": "id-6", "status": "failed", "seq": 1795009581357001},
  {"type": "error", "code": "conflict", "message": "no run is active in this session", "seq": 1795009581357001},
  {"type": "pong", "seq": 1795009581357001},
  {"type": "broadcast", "message": {"role": "system", "content": "We go home at five."}, "seq": 1795009582364000},
] satisfies ChatFrame[];

/** The same as a second tab of the session receives it. */
export const otherTab = [
  {"type": "connected", "session": "default", "agent_id": "id-1", "conversation_id": "id-2", "seq": 0},
  {"type": "run", "run_id": "id-3", "status": "running", "seq": 1795009581077000},
  {"type": "said", "id": "m1", "text": "Hi", "contents": [], "event_id": "chat:id-1:7:default:m1", "seq": 1795009581077000},
  {"type": "tool", "run_id": "id-3", "tool_call_id": "call-1", "tool_name": "time.now", "status": "started", "seq": 1795009581285000},
  {"type": "tool", "run_id": "id-3", "tool_call_id": "call-1", "tool_name": "time.now", "status": "completed", "seq": 1795009581291000},
  {"type": "thinking", "run_id": "id-3", "content": "A greeting.", "seq": 1795009581304000},
  {"type": "delta", "run_id": "id-3", "content": "Hello", "seq": 1795009581304002},
  {"type": "message", "run_id": "id-3", "message": {"role": "assistant", "content": "Hello", "reasoning": "A greeting.", "metadata": {"model_id": "id-4", "tokens": {"counted": 420, "estimated": 368}}}, "seq": 1795009581310000},
  {"type": "run", "run_id": "id-3", "status": "completed", "seq": 1795009581311000},
  {"type": "run", "run_id": "id-5", "status": "running", "seq": 1795009581315000},
  {"type": "said", "id": "m2", "text": "Again", "contents": [], "event_id": "chat:id-1:7:default:m2", "seq": 1795009581315000},
  {"type": "delta", "run_id": "id-5", "content": "It is", "seq": 1795009581329001},
  {"type": "run", "run_id": "id-5", "status": "cancelled", "seq": 1795009581338000},
  {"type": "run", "run_id": "id-6", "status": "running", "seq": 1795009581345000},
  {"type": "said", "id": "m3", "text": "Fail", "contents": [], "event_id": "chat:id-1:7:default:m3", "seq": 1795009581345000},
  {"type": "error", "code": "model.key_refused", "message": "The model service refused access: its key or account needs the operator's attention.", "in_history": true, "run_id": "id-6", "seq": 1795009581357000},
  {"type": "run", "run_id": "id-6", "status": "failed", "seq": 1795009581357001},
  {"type": "broadcast", "message": {"role": "system", "content": "We go home at five."}, "seq": 1795009582364001},
] satisfies ChatFrame[];

/** An action that waits for approval, and is approved in the chat. */
export const approval = [
  {"type": "connected", "session": "default", "agent_id": "id-7", "conversation_id": "id-8", "seq": 0},
  {"type": "accepted", "id": "m4", "event_id": "chat:id-7:7:default:m4", "seq": 0},
  {"type": "run", "run_id": "id-9", "status": "running", "seq": 1795009583545000},
  {"type": "said", "id": "m4", "text": "tell id-10", "contents": [], "event_id": "chat:id-7:7:default:m4", "seq": 1795009583545000},
  {"type": "approval", "approval_id": "id-11", "keyword": "crmw", "status": "pending", "action": "message.send", "words": "message.send in another chat {\"target_type\":\"private\",\"target_id\":\"7\",\"chain\":[{\"type\":\"Plain\",\"text\":\"Somebody is at the door.\"}]}\nAsked by admin (id-12)", "run_id": "id-9", "expires_at": 1795011383575, "decided_by": null, "reason": null, "seq": 1795009583575000},
  {"type": "approval", "approval_id": "id-11", "keyword": "crmw", "status": "approved", "action": "message.send", "words": "message.send in another chat {\"target_type\":\"private\",\"target_id\":\"7\",\"chain\":[{\"type\":\"Plain\",\"text\":\"Somebody is at the door.\"}]}\nAsked by admin (id-12)", "run_id": "id-9", "expires_at": 1795011383575, "decided_by": "api_key:id-12", "reason": null, "seq": 1795009583579000},
  {"type": "message", "run_id": "id-9", "message": {"role": "assistant", "content": "The message is done."}, "seq": 1795009583598000},
  {"type": "run", "run_id": "id-9", "status": "completed", "seq": 1795009583600000},
] satisfies ChatFrame[];

export const completedReplay = [
  {"type": "run", "status": "running", "run_id": "id-3", "at": 1795009581068},
  {"type": "tool", "tool_call_id": "call-1", "tool_name": "time.now", "status": "started", "run_id": "id-3", "at": 1795009581284},
  {"type": "tool", "tool_call_id": "call-1", "tool_name": "time.now", "status": "completed", "run_id": "id-3", "at": 1795009581291},
  {"type": "delta", "content": "Hello", "run_id": "id-3", "at": 1795009581306},
  {"type": "message", "message": {"role": "assistant", "content": "Hello", "reasoning": "A greeting.", "metadata": {"model_id": "id-4", "tokens": {"counted": 420, "estimated": 368}}}, "run_id": "id-3", "at": 1795009581306},
  {"type": "run", "status": "completed", "run_id": "id-3", "at": 1795009581311},
] satisfies ReplayFrame[];

export const failedReplay = [
  {"type": "run", "status": "running", "run_id": "id-6", "at": 1795009581341},
  {"type": "error", "code": "model.key_refused", "message": "The model service refused access: its key or account needs the operator's attention.", "in_history": true, "run_id": "id-6", "at": 1795009581357},
  {"type": "run", "status": "failed", "run_id": "id-6", "at": 1795009581357},
] satisfies ReplayFrame[];

/** One frame of each type and state. */
export const live = [
  {"type": "connected", "seq": 1795009580473004},
  {"type": "plugin", "id": "parlour/echo-agent", "state": "ready", "seq": 1795009580473004},
  {"what": "model_providers", "type": "configuration", "id": "id-13", "state": "changed", "seq": 1795009580950000},
  {"what": "models", "type": "configuration", "id": "id-4", "state": "changed", "seq": 1795009580969000},
  {"what": "agents", "type": "configuration", "id": "id-14", "state": "changed", "seq": 1795009580971000},
  {"event_type": "message.received", "source": "webui", "bot_id": "", "conversation_id": "id-2", "input_summary": "Hi", "created_at": 1795009581066, "type": "event", "id": "chat:id-1:7:default:m1", "state": "accepted", "seq": 1795009581078000},
  {"agent_id": "id-1", "bot_id": "", "conversation_id": "id-2", "event_id": "chat:id-1:7:default:m1", "runner_id": "plugin:parlour/local-agent/default", "rerun_of": "", "created_at": 1795009581068, "type": "run", "id": "id-3", "state": "running", "seq": 1795009581078001},
  {"surface": "webui", "bot_id": "", "conversation_id": "id-2", "run_id": "id-3", "kind": "message", "type": "delivery", "id": "id-15", "state": "streaming", "seq": 1795009581312000},
  {"status_reason": "stop", "error": "", "usage": "{\"model_calls\":2,\"prompt_tokens\":840,\"completion_tokens\":128,\"cost_micros\":2960,\"tool_calls\":1}", "finished_at": 1795009581311, "updated_at": 1795009581311, "type": "run", "id": "id-3", "state": "completed", "seq": 1795009581313000},
  {"reason": "", "type": "delivery", "id": "id-15", "state": "sent", "seq": 1795009581313001},
  {"status_reason": "cancelled", "error": "a person cancelled the run", "usage": "{\"model_calls\":1,\"unpriced_calls\":1}", "finished_at": 1795009581338, "updated_at": 1795009581338, "type": "run", "id": "id-5", "state": "cancelled", "seq": 1795009581340000},
  {"status_reason": "local-agent.model_failed", "error": "The model 'house-large' did not answer: House server does not accept the API key (401): out of order.", "usage": "{\"model_calls\":1}", "finished_at": 1795009581357, "updated_at": 1795009581357, "type": "run", "id": "id-6", "state": "failed", "seq": 1795009581359000},
  {"surface": "webui", "bot_id": "", "conversation_id": "id-2", "run_id": "id-6", "kind": "notice", "type": "delivery", "id": "id-17", "state": "sent", "seq": 1795009581359001},
  {"what": "bots", "type": "configuration", "id": "id-10", "state": "changed", "seq": 1795009583509000},
  {"what": "routes", "type": "configuration", "id": "id-10", "state": "deleted", "seq": 1795009583509001},
  {"what": "routes", "type": "configuration", "id": "id-10", "state": "changed", "seq": 1795009583509002},
  {"type": "bot", "id": "id-10", "state": "connecting", "seq": 1795009583509003},
  {"action": "message.send", "words": "message.send in another chat {\"target_type\":\"private\",\"target_id\":\"7\",\"chain\":[{\"type\":\"Plain\",\"text\":\"Somebody is at the door.\"}]}\nAsked by admin (id-12)", "agent_id": "id-7", "run_id": "id-9", "conversation_id": "id-8", "created_at": 1795009583575, "expires_at": 1795011383575, "type": "approval", "id": "id-11", "state": "pending", "seq": 1795009583577000},
  {"decided_by": "api_key:id-12", "reason": "", "decided_at": 1795009583578, "type": "approval", "id": "id-11", "state": "approved", "seq": 1795009583589000},
  {"surface": "platform", "bot_id": "id-10", "conversation_id": "id-8", "run_id": "id-9", "kind": "action", "type": "delivery", "id": "id-19", "state": "sending", "seq": 1795009583589001},
  {"type": "bot", "id": "id-10", "state": "connected", "seq": 1795009584010000},
] satisfies LiveFrame[];
