// The name of a requester or decider.
import { useTranslation } from "react-i18next";

import { useMe } from "../../app/session";
import { party } from "./approvalDetails";

/** `name` is the display name on the platform, if it is known; the id is added, since names are chosen freely. */
export function useParty(identity: string, name = ""): string {
  const { t } = useTranslation();
  const me = useMe();
  const { isKey, id, isShort } = party(identity.replace(/^preview:/, ""));
  if (me && identity.replace(/^preview:/, "") === `user:${me.user_id}`) return me.name || me.email || id;
  if (isKey) return t("approvals.key", { key: name || id });
  if (!name || name === id) return id;
  return isShort ? name : `${name} (${id})`;
}
