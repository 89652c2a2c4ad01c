import type { ServiceDescription } from '../cluster/service-description.js';
import type { Random } from '../world/random.js';
import type { WorldSettings } from '../world/settings.js';
import type { Theme } from './themes.js';

/** Of a choice that a theme leaves open, a world uses so many at most. */
const FEW = 3;

/** What a world is about, and what generators of steps know of it so far. */
export class Plan {
  /** Services that are there, by their names. */
  readonly services = new Map<string, ServiceDescription>();
  private readonly kept = new Map<string, readonly unknown[]>();
  private numbers = 0;
  private concerned: string | undefined;

  /** @param theme undefined: everything may happen, as often as its weight says */
  constructor(
    readonly settings: WorldSettings,
    readonly random: Random,
    private readonly theme: Theme | undefined,
  ) {}

  /** With the same Services, about something else. */
  about(theme: Theme): Plan {
    const plan = new Plan(this.settings, this.random, theme);
    for (const [name, service] of this.services) plan.services.set(name, service);
    plan.numbers = this.numbers;
    return plan;
  }

  /** A number that was not given before. */
  next(): number {
    return ++this.numbers;
  }

  /**
   * One of these. A world with a theme keeps to a few of them, so that what is rare in all worlds together happens again and again in one.
   * @param choice what is chosen, as themes name it
   */
  pick<T>(choice: string, values: readonly T[]): T {
    return this.random.pick(this.few(choice, values));
  }

  /** The same; undefined where the theme asks for others than these. */
  pickAsked<T>(choice: string, values: readonly T[]): T | undefined {
    const asked = this.theme?.choices?.[choice];
    return asked && !values.some((value) => asked.includes(String(value)))
      ? undefined
      : this.pick(choice, values);
  }

  /** A Service that is there; often the one that was picked last, so that different things happen to one. */
  pickService(): string | undefined {
    const { random, services, concerned, theme } = this;
    if (services.size === 0) return undefined;
    const isAgain =
      concerned !== undefined && services.has(concerned) && !random.isOneIn(theme?.otherServiceOneIn ?? 2);
    return (this.concerned = isAgain ? concerned : random.pick([...services.keys()]));
  }

  private few<T>(choice: string, values: readonly T[]): readonly T[] {
    const { theme, random, kept } = this;
    if (!theme) return values;
    const asked = theme.choices?.[choice];
    const open = asked ? values.filter((value) => asked.includes(String(value))) : [];
    if (open.length > 0) return open;
    const key = `${choice} ${values.join()}`;
    if (!kept.has(key)) kept.set(key, random.some(values, random.between(1, FEW)));
    return kept.get(key) as readonly T[];
  }
}
