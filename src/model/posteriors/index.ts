// The forms of the posterior by name.

import type { PosteriorName } from "../names.ts";
import type { PosteriorForm } from "./form.ts";
import { perFactor } from "./perFactor.ts";
import { shared } from "./shared.ts";

export const posteriors: Record<PosteriorName, PosteriorForm> = { shared, perFactor };

/** G: how many different Sigmas there are. */
export const groupsOf = ({ posterior, factors }: { posterior: PosteriorName; factors: number }): number =>
  posteriors[posterior].groups(factors);
