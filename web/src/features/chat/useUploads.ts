// The files of a message that is being written: uploaded at once, retried on request, kept until the message is sent.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { upload } from "../../api/client";
import type { FileRef } from "./chatState";

export type Upload = { id: string; file: File; preview: string | null; sent: FileRef | null; error: unknown };

export function useUploads() {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const update = (id: string, change: Partial<Upload>) =>
    setUploads((previous) => previous.map((each) => (each.id === id ? { ...each, ...change } : each)));
  const sending = useMutation({
    mutationFn: ({ file }: { id: string; file: File }) => {
      const form = new FormData();
      form.append("file", file);
      return upload("/api/v1/files", form);
    },
    onSuccess: ({ artifact_id, name, mime_type }, { id, file }) =>
      update(id, { sent: { artifact_id, name: name ?? file.name, mime_type } }),
    onError: (error, { id }) => update(id, { error }),
  });
  const add = (files: Iterable<File>) => {
    const added = [...files].map((file) => ({
      id: crypto.randomUUID(),
      file,
      preview: previewOf(file),
      sent: null,
      error: null,
    }));
    setUploads((previous) => [...previous, ...added]);
    for (const each of added) sending.mutate(each);
  };
  const retry = (each: Upload) => {
    update(each.id, { error: null });
    sending.mutate(each);
  };
  const remove = (each: Upload) => {
    if (each.preview) URL.revokeObjectURL(each.preview);
    setUploads((previous) => previous.filter((other) => other.id !== each.id));
  };
  const take = (): FileRef[] => {
    const sent = uploads.map((each) => each.sent).filter((each) => each !== null);
    uploads.forEach(remove);
    return sent;
  };
  return { uploads, add, again: retry, remove, take, isReady: uploads.every((each) => each.sent !== null) };
}

function previewOf(file: File): string | null {
  return file.type.startsWith("image/") ? URL.createObjectURL(file) : null;
}
