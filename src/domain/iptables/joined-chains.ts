import type { ServicePortKey } from '../model/service-port-name.js';
import type { OwnedChain } from './composition.js';
import { appendLine, chainsInWritingOrder, declareLine, inWritingOrder } from './restore-line.js';
import type { IptablesFragment } from './table.js';

/**
 * The chains of several service ports, made ahead, as the text that makes and fills them: all are declared before any
 * rule. They are gathered first, each with the lines of its rules; then joined, from when on nothing is added; and the text
 * can be had once, since it is large. The chains can be had always, made anew.
 */
export class JoinedChains {
  private readonly fragments = new Map<ServicePortKey, IptablesFragment>();
  /** The lines of the rules by the chain's name, until they are joined. */
  private gathered: Map<string, string> | undefined = new Map();
  private text: string | undefined;
  private chainCount = 0;
  private ruleCount = 0;

  add(owner: ServicePortKey, fragment: IptablesFragment): void {
    if (!this.gathered) throw new Error('nothing can be added to chains that are joined');
    // All of them before any is kept, for a fragment may fail to make one.
    const made = fragment.chains.map(({ name, rules }) => ({
      name,
      count: rules.length,
      lines: rules.map((rule) => appendLine(name, rule)).join('\n'),
    }));
    this.fragments.set(owner, fragment);
    for (const { name, count, lines } of made) {
      this.gathered.set(name, lines);
      this.ruleCount += count;
    }
    this.chainCount = this.gathered.size;
  }

  get owners(): Iterable<ServicePortKey> {
    return this.fragments.keys();
  }

  get ownerCount(): number {
    return this.fragments.size;
  }

  /** How many chains there are. */
  get size(): number {
    return this.chainCount;
  }

  /** How many rules are in them. */
  get rules(): number {
    return this.ruleCount;
  }

  join(): void {
    const { gathered } = this;
    if (!gathered) return;
    const names = inWritingOrder(gathered.keys());
    const rules = names.map((name) => gathered.get(name)!).filter((lines) => lines !== '');
    this.text = [...names.map(declareLine), ...rules].join('\n');
    this.gathered = undefined;
  }

  /** The text without the last line feed; undefined when somebody has had it. */
  takeText(): string | undefined {
    this.join();
    const { text } = this;
    this.text = undefined;
    return text;
  }

  /** The chains in the order in which the text has them. */
  get chains(): readonly OwnedChain[] {
    return chainsInWritingOrder([...this.owners].flatMap((owner) => this.chainsOf(owner)));
  }

  /** The chains of one of the service ports. */
  chainsOf(owner: ServicePortKey): readonly OwnedChain[] {
    return (this.fragments.get(owner)?.chains ?? []).map((chain) => ({ chain, owner }));
  }
}
