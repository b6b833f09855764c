// One training under the eyes of a person: progress on the screen, and a signal that stops it.

import type { Dataset } from "../data/dataset.ts";
import type { TrainedModel } from "../model/model.ts";
import type { TrainOptions } from "../train/options.ts";
import type { TrainProgress } from "../train/progress.ts";
import type { RunOptions } from "../train/run.ts";
import { train } from "../train/train.ts";
import { showProgress } from "./progress.ts";
import { Stopped, watchSignals } from "./signals.ts";
import type { Terminal } from "./terminal.ts";

export type Options = TrainOptions & RunOptions;

/** Trains with progress on the screen; a signal stops it and says what is so. */
export async function trainWatched(
  dataset: Dataset,
  options: Options,
  record: (progress: TrainProgress) => void,
  standing: () => string,
  screen: Terminal,
): Promise<TrainedModel> {
  const show = showProgress(screen);
  const stop = watchSignals();
  const { features, labels } = dataset;
  screen.say(`${features.rows} points, ${features.columns} features, ${labels.labels} labels`);
  try {
    return await train(dataset, {
      ...options,
      signal: stop.signal,
      onProgress: (progress) => {
        record(progress);
        show(progress);
      },
    });
  } catch (error) {
    if (stop.came === undefined) throw error;
    const cause = error === stop.signal.reason ? "" : `${(error as Error).message}; `;
    throw new Stopped(`stopped; ${cause}${standing()}`, stop.came);
  } finally {
    screen.done();
    stop.end();
  }
}
