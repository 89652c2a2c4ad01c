import type { SetElement } from '../../../../domain/nftables/layout/table.js';
import { AttributeReader } from '../../../netlink/attribute-reader.js';
import type { NetlinkMessage } from '../../../netlink/message-reader.js';
import type { SetLayout } from '../encode/set-layout.js';
import * as nf from '../nf-tables.js';
import { attributesOf } from '../messages/attribute-layout.js';
import { componentsText } from './component-text.js';
import { VERDICT_LAYOUT, verdictName, type VerdictRecord } from '../messages/expressions.js';
import { readUserdata, type Userdata } from '../messages/userdata.js';

/** One expression, or several. */
const EXPRESSIONS: ReadonlySet<number> = new Set([nf.ELEMENT.EXPRESSION, nf.ELEMENT.EXPRESSIONS]);
const NO_USERDATA: Userdata = {};

/** Reads elements of a set of ours as text, without a record of each: large tables have a million of them. */
export class ElementReader {
  readonly elements = new Map<string, SetElement>();
  /** How many were read; more than the number of elements if some came twice. */
  seen = 0;
  private readonly entries = new AttributeReader(Buffer.alloc(0));
  private readonly entry = new AttributeReader(Buffer.alloc(0));
  private readonly data = new AttributeReader(Buffer.alloc(0));

  private readonly first: SetLayout['key'];

  /** @param passes whether elements whose keys begin with that component are taken; all are if it is omitted */
  constructor(
    private readonly layout: SetLayout,
    private readonly passes?: (first: string) => boolean,
  ) {
    this.first = layout.key.slice(0, 1);
  }

  read(message: NetlinkMessage): void {
    const attributes = attributesOf(message);
    while (attributes.next()) {
      if (attributes.type !== nf.ELEMENTS.LIST) continue;
      const { entries } = this;
      entries.over(message.bytes, attributes.start, attributes.end);
      while (entries.next()) this.readElement(message.bytes, entries.start, entries.end);
    }
  }

  private readElement(bytes: Buffer, start: number, end: number): void {
    const { entry, layout } = this;
    let key: string | undefined;
    let hasMore = false;
    let value: string | undefined;
    let userdata = NO_USERDATA;
    entry.over(bytes, start, end);
    while (entry.next()) {
      if (entry.type === nf.ELEMENT.KEY) {
        if (this.passes?.(this.readData(bytes, this.first) ?? '') === false) return;
        key = this.readData(bytes, layout.key) ?? '';
      } else if (entry.type === nf.ELEMENT.DATA) value = this.readData(bytes, layout.value ?? []);
      else if (entry.type === nf.ELEMENT.USERDATA) userdata = readUserdata(bytes, entry.start, entry.end);
      else if (EXPRESSIONS.has(entry.type)) hasMore = true;
    }
    // The one for all keys without an element of their own.
    if (key === undefined) return;
    this.seen++;
    const { comment, digest } = userdata;
    this.elements.set(key, { key, value, comment, digest, ...(hasMore && { hasMore: true }) });
  }

  private readData(bytes: Buffer, components: SetLayout['key']): string | undefined {
    const { data, entry } = this;
    data.over(bytes, entry.start, entry.end);
    while (data.next()) {
      if (data.type === nf.DATA.VALUE) return componentsText(bytes, data.start, components);
      if (data.type === nf.DATA.VERDICT) return verdictWords(VERDICT_LAYOUT.read(data.nested()));
    }
    return undefined;
  }
}

function verdictWords({ code, chain }: VerdictRecord): string {
  const name = verdictName(code) ?? `verdict ${code}`;
  return chain === undefined ? name : `${name} ${chain}`;
}
