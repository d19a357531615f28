// Files that are uploaded to the Host and referenced by their key.
import { useMutation } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useTranslation } from "react-i18next";

import { upload } from "../../api/client";
import { IconButton } from "../Button";
import { ErrorMessage } from "../Feedback";
import type { ItemProps } from "./controls";

type File_ = { file_key: string; name?: string };

export function FileControl({ value, onChange, ...rest }: ItemProps) {
  const file = (value as File_ | undefined) ?? undefined;
  return <Files {...rest} files={file ? [file] : []} put={(files) => onChange(files.at(-1))} />;
}

export function FilesControl({ value, onChange, ...rest }: ItemProps) {
  const files = Array.isArray(value) ? (value as File_[]) : [];
  return <Files {...rest} files={files} put={onChange} />;
}

function Files({
  control,
  files,
  put,
  disabled,
}: Pick<ItemProps, "control" | "disabled"> & { files: File_[]; put: (files: File_[]) => void }) {
  const { t } = useTranslation();
  const sending = useMutation({
    mutationFn: async (file: File) => {
      const form = new FormData();
      form.append("file", file);
      return upload("/api/v1/files", form);
    },
    onSuccess: (uploaded, file) => put([...files, { file_key: uploaded.file_id, name: file.name }]),
  });
  return (
    <div className="space-y-2">
      {files.map((file) => (
        <div key={file.file_key} className="flex items-center gap-2 text-sm">
          <span className="min-w-0 flex-1 truncate">{file.name ?? file.file_key}</span>
          <IconButton
            label={t("common.remove")}
            disabled={disabled}
            onClick={() => put(files.filter((each) => each !== file))}
          >
            <X className="size-4" />
          </IconButton>
        </div>
      ))}
      <input
        {...control}
        type="file"
        disabled={disabled || sending.isPending}
        className="max-w-full text-sm file:mr-3 file:rounded-control file:border file:border-line file:bg-surface file:px-3 file:py-1.5"
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) sending.mutate(file);
          event.target.value = "";
        }}
      />
      <ErrorMessage error={sending.error} />
    </div>
  );
}
