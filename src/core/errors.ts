// What can go wrong in the numeric core, by type: callers tell a wrong argument from a lack of memory.

/** An argument that cannot be used; the message names it, says what was found and what was expected. */
export class ArgumentError extends Error {
  override name = "ArgumentError";
  /** Name of the argument. */
  readonly argument: string;
  /** What is wrong with it: the message without the name. */
  readonly problem: string;
  constructor(argument: string, problem: string) {
    super(`${argument}: ${problem}`);
    this.argument = argument;
    this.problem = problem;
  }
}

/** NaN or Infinity where only finite numbers can be worked with. */
export class NotFiniteError extends ArgumentError {
  override name = "NotFiniteError";
}

/** Memory that could not be had; the message says what was asked for and how much there is. */
export class OutOfMemoryError extends Error {
  override name = "OutOfMemoryError";
  readonly requestedBytes: number;
  constructor(requestedBytes: number, message: string) {
    super(message);
    this.requestedBytes = requestedBytes;
  }
}
