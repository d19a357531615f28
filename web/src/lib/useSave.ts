// A change at the Host, after which what it touched is read again; also when it was refused, since that may say that
// something is no longer as it was, or leave a note, as a plugin does that can't be installed.
import { useMutation, useQueryClient } from "@tanstack/react-query";

export function useSave<Given, Answered>(
  change: (given: Given) => Promise<Answered>,
  stale: string[],
  after?: (answered: Answered, given: Given) => void,
) {
  const client = useQueryClient();
  const readAgain = () => Promise.all(stale.map((key) => client.invalidateQueries({ queryKey: [key] })));
  return useMutation({
    mutationFn: change,
    onError: () => void readAgain(),
    onSuccess: async (answered, given) => {
      await readAgain();
      after?.(answered, given);
    },
  });
}
