// The likelihoods by name.

import type { LikelihoodName } from "../names.ts";
import { bernoulli } from "./bernoulli.ts";
import type { Likelihood } from "./likelihood.ts";

export const likelihoods: Record<LikelihoodName, Likelihood> = { bernoulli };
