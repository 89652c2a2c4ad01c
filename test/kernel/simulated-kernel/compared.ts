import type { Driver } from '../../support/program/in-namespace.js';
import { until } from '../../support/until.js';
import type { Conversation, ToldMessage } from './conversation.js';
import type { KernelDriver } from './driver.js';
import { common, partsOf, type Shape } from './shape.js';

/** Both kernels at once: the real one and the simulated one. */
export class Compared {
  constructor(
    private readonly real: Driver<KernelDriver>,
    private readonly simulated: Conversation,
    private readonly protocol: number,
    private readonly shapeOf: (type: number) => Shape,
  ) {}

  /** Both answer alike: in number and kind of messages, and in all parts that the simulated ones have. */
  async ask(request: Buffer): Promise<void> {
    const bytes = request.toString('hex');
    this.compare(
      await this.simulated.ask(this.protocol, bytes),
      await this.real.ask('ask', this.protocol, bytes),
    );
  }

  async hear(groups: number): Promise<void> {
    this.simulated.hear(this.protocol, groups);
    await this.real.ask('hear', this.protocol, groups);
  }

  /** Both have told the same since this was last asked, the real one after a while. */
  async heard(isMeant: (message: ToldMessage) => boolean = () => true): Promise<number> {
    const simulated = this.simulated.heard(this.protocol).filter(isMeant);
    const real: ToldMessage[] = [];
    await until(`the kernel has told ${simulated.length} things`, async () => {
      real.push(...(await this.real.ask('heard', this.protocol)).filter(isMeant));
      return real.length >= simulated.length;
    });
    this.compare(simulated, real);
    return simulated.length;
  }

  private compare(simulated: readonly ToldMessage[], real: readonly ToldMessage[]): void {
    const mine = simulated.map((message) => partsOf(message, this.shapeOf(message.type)));
    const kernels = real.map((message, place) =>
      common(partsOf(message, this.shapeOf(message.type)), mine[place]),
    );
    expect(mine).toEqual(kernels);
    expect(simulated).toHaveLength(real.length);
  }
}
