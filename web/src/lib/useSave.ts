// A change at the Host, after which the affected queries are read again; also when it was refused, since then the page
// may be out of date, or the refusal left a record, as for a plugin that can't be installed.
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
