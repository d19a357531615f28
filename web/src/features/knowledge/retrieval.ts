// The settings of a search, as the Host has them.
export type Retrieval = {
  mode: "hybrid" | "vector" | "full_text";
  top_k: number;
  min_score: number;
  weight: number;
  rerank_model: string;
  rerank_top_k: number;
  neighbours: number;
};

export const MODES: Retrieval["mode"][] = ["hybrid", "vector", "full_text"];
