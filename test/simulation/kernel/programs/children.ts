import type { Pause } from './tools/tool.js';
import type { Programs, StartedProgram } from './programs.js';
import type { Trouble } from './faults.js';

/** Something that will happen, unless it is canceled. */
interface Planned {
  cancel(): void;
}

/** What decides when programs go on. */
export interface ProgramClock {
  /** Milliseconds. */
  now(): number;
  after(milliseconds: number, run: () => void): Planned;
  /** How long a pause of this kind takes, in milliseconds. */
  pauseOf(kind: 'start' | 'work' | 'exit'): number;
}

/** How a program has ended. */
export interface ChildEnd {
  /** Undefined if it was killed. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
}

/** What a program's parent hears of it. */
export interface ChildListeners {
  /** It wants the next piece of its input: to be answered by `give`, now or later. */
  readonly wants: () => void;
  readonly prints: (text: string) => void;
  readonly ends: (end: ChildEnd) => void;
}

/**
 * A program that runs in simulated time, as the child of a process. When that process ends, the child is killed with it, or goes on
 * without it, as on a real machine: then its input ends where its parent stopped writing.
 */
export class Child {
  private readonly started: StartedProgram;
  private planned: Planned | undefined;
  private stopWaiting: (() => void) | undefined;
  private isOver = false;
  /** Whether it has read some of its input. */
  hasInput = false;
  /** When it was killed although it would have gone on, later than a program should; undefined if it was not. */
  givenUpAt: number | undefined;
  private isOrphan = false;
  private wantsInput = false;
  private pauses = 0;
  private printed = 0;

  constructor(
    programs: Programs,
    readonly command: readonly string[],
    readonly pid: number,
    name: string,
    private readonly clock: ProgramClock,
    private readonly listeners: ChildListeners,
  ) {
    this.trouble = programs.faults.nextTrouble(command);
    this.started = programs.start(command, { pid, name });
    this.plan(clock.pauseOf('start') + (this.trouble?.hangs ?? 0), () => this.goOn(undefined));
  }

  private readonly trouble: Trouble | undefined;

  get stderr(): string {
    return this.started.stderr();
  }

  /** Whether it has ended. */
  get hasEnded(): boolean {
    return this.isOver;
  }

  /** Whether it is one that takes longer than a program should. */
  get isHanging(): boolean {
    return this.trouble?.hangs !== undefined && !this.isOver;
  }

  /** The piece that it wanted; undefined at the end of the input. */
  give(piece: string | undefined): void {
    if (!this.wantsInput || this.isOver || this.isOrphan) return;
    this.wantsInput = false;
    this.hasInput = true;
    this.goOn(piece);
  }

  /** What it has done stays done; the rest will not happen. Idempotent. */
  kill(signal = 'SIGTERM'): void {
    if (this.isHanging) this.givenUpAt = this.clock.now();
    this.end({ exitCode: undefined, signal });
  }

  /** Its parent is gone: nobody hears it any more, and nobody writes to it. */
  abandon(): void {
    if (this.isOver || this.isOrphan) return;
    this.isOrphan = true;
    if (this.wantsInput) this.plan(this.clock.pauseOf('work'), () => this.goOn(undefined));
    this.wantsInput = false;
  }

  private goOn(answer: string | boolean | undefined): void {
    if (this.isOver) return;
    const { steps } = this.started;
    const next = steps.next(answer);
    this.print();
    if (this.isOver) return;
    if (next.done) {
      const exitCode = next.value;
      this.plan(this.clock.pauseOf('exit'), () => this.end({ exitCode, signal: undefined }));
    } else if (this.trouble?.killedAfter !== undefined && ++this.pauses > this.trouble.killedAfter)
      this.kill('SIGKILL');
    else this.pause(next.value);
  }

  private pause(pause: Pause): void {
    switch (pause.for) {
      case 'work':
        return this.plan(this.clock.pauseOf('work'), () => this.goOn(undefined));
      case 'input':
        if (this.isOrphan) return this.plan(0, () => this.goOn(undefined));
        this.wantsInput = true;
        return this.listeners.wants();
      case 'lock':
        return this.waitForLock(pause);
    }
  }

  private waitForLock({ lock, milliseconds }: Pause & { readonly for: 'lock' }): void {
    const holder = this.started.holder;
    const wait = (): void => {
      this.stopWaiting = lock.whenFree(() => {
        if (lock.take(holder)) {
          late?.cancel();
          this.plan(0, () => this.goOn(true));
        } else wait();
      });
    };
    const late = Number.isFinite(milliseconds)
      ? this.clock.after(milliseconds, () => {
          this.stopWaiting?.();
          this.goOn(false);
        })
      : undefined;
    this.planned = late;
    wait();
  }

  private plan(milliseconds: number, run: () => void): void {
    this.planned = this.clock.after(milliseconds, run);
  }

  private print(): void {
    const text = this.started.takeOutput();
    if (text === '') return;
    const left = (this.trouble?.killedAtOutput ?? Infinity) - this.printed;
    this.printed += text.length;
    if (!this.isOrphan && left > 0) this.listeners.prints(text.slice(0, left));
    if (text.length > left) this.kill('SIGKILL');
  }

  private end(end: ChildEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    this.planned?.cancel();
    this.stopWaiting?.();
    this.started.end();
    if (!this.isOrphan) this.listeners.ends(end);
  }
}
