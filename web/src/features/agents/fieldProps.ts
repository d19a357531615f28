// What the parts of an agent's form share: the draft, and how to change it.
import type { Agent } from "../../api/types";

export type FieldProps = { draft: Agent; put: (change: Partial<Agent>) => void; disabled: boolean };
