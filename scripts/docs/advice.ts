// When to change an option of a training: what docs/options.md says behind its meaning.

import type { TrainOptions } from "../../src/parts/options.ts";

export const advice: Partial<Record<keyof TrainOptions, string>> = {
  model:
    "`auto` chooses by the sizes of the data and says what: `gpr` up to some 26,000 rows; `linear+svgp` beyond; `svgp`, the paper's model, for short rows or very many labels, or where an option is only about it",
  calibration: "`--no-calibration` gives the likelihood's own probabilities, and trains on every row (`svgp` only)",
  exclusive: "Without it each label has a probability of its own, and a row may have none or several",
  kernel:
    "Texts and other sparse data: keep it. For dense features the training compares kernels by leave-one-out on some rows and says which it chose. `se` with `svgp` for dense features where labels depend on them in a curved way; slower",
  names:
    "A file for labels that are no words: TSV (`<uri> TAB name TAB other names`), CSV (`uri,label_en`), JSONL or SKOS. Labels that no training row has are then found by name. `labels`: a label whose own text is words is its name, where leave-one-out says that it helps",
  posterior: "`perFactor` is the paper's: P times the work, nearly the same figures",
  mean: "`inducing` is the paper's form: the mean goes through the inducing inputs too",
  negatives:
    "A number (some hundreds) for very many labels: that many absent labels are sampled for each row and weighted, so that the bound stays unbiased",
  gradientLabels:
    "With very many labels most of the gradient comes from the labels of the rows; the sampled ones are weighted, so that the gradient stays unbiased. `all`: no sampling",
  factors: "More for many diverse labels (costs time and file size in proportion), fewer for a smaller file",
  inducingPoints:
    "They carry the variance (and in the paper's form the mean): more make it finer; a step costs about M³",
  rank: "Size of the subspace in which inducing inputs lie; more for large vocabularies in the paper's form",
  epochs: "More if the bound in the report still rises at the end",
  learningRate: "Halve it if the training reports numbers that are not finite, or if the bound oscillates",
  klWeight: "0.4 to 0.5 often ranks a little better; look at the calibration before you keep it",
  idf: "`auto`: where all values are one. `yes` for word counts, `no` where values are measurements",
  normalise:
    "Dense features (half of them or more are not zero) are divided by their standard deviation (with a linear kernel by their root mean square) instead, which keeps what the length of a row says",
  minSigma: "Raise it if the training reports a C that is not positive definite",
  precision: "`f64` to check numbers, not to get better models",
};
