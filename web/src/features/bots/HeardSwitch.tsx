// Whether a bot keeps what is said in its groups without addressing it, with the consequence in words.
import { useId } from "react";
import { useTranslation } from "react-i18next";

import { Switch } from "../../components/Switch";

export function HeardSwitch({
  checked,
  onChange,
  disabled,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  const { t } = useTranslation();
  const id = useId();
  return (
    <div className="space-y-1">
      <div className="flex items-center justify-between gap-3 text-sm">
        <label htmlFor={id}>{t("bots.heard")}</label>
        <Switch id={id} checked={checked} onChange={onChange} disabled={disabled} />
      </div>
      <p className="text-sm text-quiet">{t("bots.heardText")}</p>
    </div>
  );
}
