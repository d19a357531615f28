// A change at the Host, after which what it touched is read again.
import { useMutation, useQueryClient } from "@tanstack/react-query";

export function useSave<Given, Answered>(
  change: (given: Given) => Promise<Answered>,
  stale: string[],
  after?: (answered: Answered, given: Given) => void,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async (answered, given) => {
      await Promise.all(stale.map((key) => client.invalidateQueries({ queryKey: [key] })));
      after?.(answered, given);
    },
  });
}
