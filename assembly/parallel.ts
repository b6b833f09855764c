// One operation on many threads. An operation is cut into numbered tasks, each of which writes outputs of its own;
// who runs which task never changes a result. In the plain build this is a loop.
//
// Every thread is an instance of the same module over one shared memory. Module globals are therefore private to a
// thread, and the control block below is what they share.

/** Which thread this instance is, and how many there are. */
let threadId: i32 = 0;
let threadCount: i32 = 1;
/** Set while a task runs: what it starts runs on its own thread. */
let insideTask: bool = false;
/** A page's main thread may not block; it spins instead. */
let mayBlock: bool = false;
let control: usize = 0;

/** Private scratch of this thread: a stack of task arguments, then two packing buffers. */
let scratch: usize = 0;
let frameTop: usize = 0;

export const FRAME_BYTES: usize = 4096;
export const PANEL_A_BYTES: usize = 320 * 1024;
export const PANEL_B_BYTES: usize = 4352 * 1024;
export const SCRATCH_BYTES: usize = FRAME_BYTES + PANEL_A_BYTES + PANEL_B_BYTES;

/** Small packing buffer of this thread. */
// @ts-ignore: decorator
@inline
export function panelA(): usize {
  return scratch + FRAME_BYTES;
}

/** Large packing buffer of this thread. */
// @ts-ignore: decorator
@inline
export function panelB(): usize {
  return scratch + FRAME_BYTES + PANEL_A_BYTES;
}

/** Which thread this is: its share of work memory that a caller laid out by thread. */
export function thread(): i32 {
  return threadId;
}

/** How many threads a job started here would run on. */
export function threads(): i32 {
  return insideTask ? 1 : threadCount;
}

// The control block: TICKET holds the generation of the job (high word) and the next task (low word), so that a late
// thread can never take a task of a job it did not see.
const TICKET: usize = 0;
const GENERATION: usize = 4;
const TASKS: usize = 8;
const DONE: usize = 12;
const FUNCTION: usize = 16;
const FRAME: usize = 20;
const QUIT: usize = 24;
const FAILED: usize = 28;
export const CONTROL_BYTES: usize = 64;

const CLOSED: u64 = 0x7fffffff;
const SPINS: i32 = 4000;

/** Where memory is free: below lie the module's constant tables. @kernel */
export function heapBase(): usize {
  return __heap_base;
}
/** Scratch each thread needs. @kernel */
export function scratchBytes(): usize {
  return SCRATCH_BYTES;
}
/** Size of the control block, zero at the start. @kernel */
export function controlBytes(): usize {
  return CONTROL_BYTES;
}

/** Called once in every instance before anything else. `scratchBase` holds SCRATCH_BYTES for each thread. @kernel */
export function start(controlBlock: usize, scratchBase: usize, id: i32, count: i32, block: bool): void {
  control = controlBlock;
  threadId = id;
  threadCount = count;
  mayBlock = block;
  scratch = scratchBase + <usize>id * SCRATCH_BYTES;
  frameTop = scratch;
}

/** Room for the arguments of a job; give it back with popFrame. */
// @ts-ignore: decorator
@inline
export function pushFrame(bytes: usize): usize {
  const frame = frameTop;
  frameTop = (frame + bytes + 15) & ~15;
  return frame;
}
// @ts-ignore: decorator
@inline
export function popFrame(frame: usize): void {
  frameTop = frame;
}

/** Runs fn(frame, 0) ... fn(frame, tasks - 1), on all threads where there are several. */
export function parallel(fn: u32, frame: usize, tasks: i32): void {
  if (ASC_FEATURE_THREADS) {
    if (threadCount > 1 && !insideTask && tasks > 1) {
      dispatch(fn, frame, tasks);
      return;
    }
  }
  for (let task = 0; task < tasks; task++) call_indirect<void>(fn, frame, task);
}

function dispatch(fn: u32, frame: usize, tasks: i32): void {
  store<u32>(control, fn, FUNCTION);
  store<usize>(control, frame, FRAME);
  store<i32>(control, tasks, TASKS);
  atomic.store<i32>(control, 0, DONE);
  const generation = atomic.load<i32>(control, GENERATION) + 1;
  atomic.store<u64>(control, <u64>(<u32>generation) << 32, TICKET);
  atomic.notify(control + GENERATION, threadCount);
  takeTasks(generation);
  let spins = SPINS;
  for (;;) {
    const done = atomic.load<i32>(control, DONE);
    if (done >= tasks) break;
    if (spins > 0) spins--;
    else if (mayBlock) atomic.wait<i32>(control + DONE, done, -1);
  }
  atomic.store<u64>(control, (<u64>(<u32>generation) << 32) | CLOSED, TICKET);
  if (atomic.load<i32>(control, FAILED) != 0) unreachable();
}

function takeTasks(generation: i32): void {
  for (;;) {
    const ticket = atomic.load<u64>(control, TICKET);
    if (<i32>(ticket >> 32) != generation) return;
    const task = <i32>ticket;
    const tasks = load<i32>(control, TASKS);
    if (task >= tasks) return;
    if (atomic.cmpxchg<u64>(control, ticket, ticket + 1, TICKET) != ticket) continue;
    insideTask = true;
    call_indirect<void>(load<u32>(control, FUNCTION), load<usize>(control, FRAME), task);
    insideTask = false;
    if (atomic.add<i32>(control, 1, DONE) + 1 == tasks) atomic.notify(control + DONE, 1);
  }
}

/** The life of a worker thread: returns when `stop` is called. @kernel */
export function work(): void {
  if (ASC_FEATURE_THREADS) {
    let seen = 0;
    for (;;) {
      for (let spins = SPINS; spins > 0 && atomic.load<i32>(control, GENERATION) == seen; spins--) {}
      atomic.wait<i32>(control + GENERATION, seen, -1);
      const generation = atomic.load<i32>(control, GENERATION);
      if (generation == seen) continue;
      seen = generation;
      if (atomic.load<i32>(control, QUIT) != 0) return;
      takeTasks(generation);
    }
  }
}

/** Called in a worker whose task trapped: counts the task as done, and lets the job fail where it was started. @kernel */
export function abandon(): void {
  if (ASC_FEATURE_THREADS) {
    atomic.store<i32>(control, 1, FAILED);
    atomic.add<i32>(control, 1, DONE);
    atomic.notify(control + DONE, 1);
  }
}

/** Lets the worker threads end. @kernel */
export function stop(): void {
  if (ASC_FEATURE_THREADS) {
    atomic.store<i32>(control, 1, QUIT);
    const generation = atomic.load<i32>(control, GENERATION) + 1;
    atomic.store<u64>(control, (<u64>(<u32>generation) << 32) | CLOSED, TICKET);
    atomic.notify(control + GENERATION, threadCount);
  }
}
