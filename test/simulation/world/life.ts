/** Something that acts in a world and may end at any moment: a process of the program, the API server, another program. */
export class Life {
  isAlive = true;
  private readonly endings: (() => void)[] = [];

  constructor(
    readonly name: string,
    /** The number of its process. */
    readonly pid: number,
  ) {}

  /** What becomes of what it holds, such as sockets, when it ends; at once if it has: a killed process still ends its turn. */
  onEnd(ending: () => void): void {
    if (this.isAlive) this.endings.push(ending);
    else ending();
  }

  /** From now on nothing that it does has an effect. Idempotent. */
  end(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    for (const ending of this.endings.splice(0).reverse()) ending();
  }
}
