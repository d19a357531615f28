// Who asked or decided, as people call them. Only one's own name is known to everybody who may look.
import { useTranslation } from "react-i18next";

import { useMe } from "../../app/session";
import { party } from "./asked";

export function useParty(identity: string): string {
  const { t } = useTranslation();
  const me = useMe();
  const { isKey, id } = party(identity);
  if (me && identity === `user:${me.user_id}`) return me.name || me.email || id;
  return isKey ? t("approvals.key", { key: id }) : id;
}
