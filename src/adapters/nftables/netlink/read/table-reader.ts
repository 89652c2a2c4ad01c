import { TABLE_NAME, type Hook, type SetElement } from '../../../../domain/nftables/layout/table.js';
import { AttributeReader } from '../../../netlink/attribute-reader.js';
import type { NetlinkMessage } from '../../../netlink/message-reader.js';
import { componentsText } from './component-text.js';
import { expressionsText, readVerdict } from './expression-text.js';
import * as nf from '../nf-tables.js';
import { describeLayout, type SetLayout } from '../encode/set-layout.js';

const HOOK_NAMES: readonly Hook['hook'][] = ['prerouting', 'input', 'forward', 'output', 'postrouting'];
const ACCEPT = 1;

/** The attributes of a message of nf_tables, after its own header of four bytes. */
export function attributesOf({ bytes, start, end }: NetlinkMessage): AttributeReader {
  return new AttributeReader(bytes, start + 4, end);
}

/** A chain of our table; undefined for chains of other tables, which a dump of chains contains too. */
export function readChain(attributes: AttributeReader): { name: string; fingerprint: string } | undefined {
  let name = '';
  let table = '';
  let type = '';
  let hook: { number: number; priority: number } | undefined;
  let policy = ACCEPT;
  while (attributes.next()) {
    switch (attributes.type) {
      case nf.CHAIN.TABLE:
        table = attributes.text();
        break;
      case nf.CHAIN.NAME:
        name = attributes.text();
        break;
      case nf.CHAIN.TYPE:
        type = attributes.text();
        break;
      case nf.CHAIN.POLICY:
        policy = attributes.number();
        break;
      case nf.CHAIN.HOOK:
        hook = readHook(attributes.nested());
        break;
    }
  }
  if (table !== TABLE_NAME) return undefined;
  if (!hook) return { name, fingerprint: REGULAR_CHAIN };
  const hookName = HOOK_NAMES[hook.number] ?? `hook ${hook.number}`;
  return { name, fingerprint: describeBaseChain(type, hookName, hook.priority, policy) };
}

export const REGULAR_CHAIN = 'regular chain';

/** Describes a base chain without its rules. */
export function describeBaseChain(type: string, hook: string, priority: number, policy = ACCEPT): string {
  const accepts = policy === ACCEPT ? 'accept' : `verdict ${policy}`;
  return `type ${type} hook ${hook} priority ${priority} policy ${accepts}`;
}

function readHook(attributes: AttributeReader): { number: number; priority: number } {
  let number = 0;
  let priority = 0;
  while (attributes.next()) {
    if (attributes.type === nf.HOOK.NUMBER) number = attributes.number();
    else if (attributes.type === nf.HOOK.PRIORITY) priority = attributes.number() | 0;
  }
  return { number, priority };
}

/** A rule: the chain it is in, and its fingerprint. */
export function readRule(attributes: AttributeReader): { chain: string; fingerprint: string } {
  let chain = '';
  let expressions = '';
  let comment: string | undefined;
  while (attributes.next()) {
    if (attributes.type === nf.RULE.CHAIN) chain = attributes.text();
    else if (attributes.type === nf.RULE.EXPRESSIONS) expressions = expressionsText(attributes.nested());
    else if (attributes.type === nf.RULE.USERDATA) ({ comment } = readUserdata(attributes.value()));
  }
  return { chain, fingerprint: comment === undefined ? expressions : `${expressions} # ${comment}` };
}

/** A named set as it is listed. */
export interface ListedSet {
  readonly name: string;
  readonly fingerprint: string;
  /** How many elements it has; undefined on kernels that do not report it. */
  readonly count: number | undefined;
}

/** Undefined for sets that belong to a rule. */
export function readSet(attributes: AttributeReader): ListedSet | undefined {
  let name = '';
  let count: number | undefined;
  const found = { flags: 0, keyType: 0, keyLength: 0, dataType: 0, dataLength: 0, size: 0 };
  while (attributes.next()) {
    switch (attributes.type) {
      case nf.SET.NAME:
        name = attributes.text();
        break;
      case nf.SET.FLAGS:
        found.flags = attributes.number();
        break;
      case nf.SET.KEY_TYPE:
        found.keyType = attributes.number();
        break;
      case nf.SET.KEY_LENGTH:
        found.keyLength = attributes.number();
        break;
      case nf.SET.DATA_TYPE:
        found.dataType = attributes.number();
        break;
      case nf.SET.DATA_LENGTH:
        found.dataLength = attributes.number();
        break;
      case nf.SET.DESCRIPTION:
        found.size = readSize(attributes.nested());
        break;
      case nf.SET.COUNT:
        count = attributes.number();
        break;
    }
  }
  return found.flags & nf.SET_FLAG.ANONYMOUS
    ? undefined
    : { name, fingerprint: describeLayout(found), count };
}

function readSize(attributes: AttributeReader): number {
  while (attributes.next()) if (attributes.type === nf.DESCRIPTION_SIZE) return attributes.number();
  return 0;
}

/** Reads the messages of a dump of elements. */
export class ElementReader {
  readonly elements = new Map<string, SetElement>();
  /** How many were read; more than the number of elements if some came twice. */
  seen = 0;
  private readonly entries = new AttributeReader(Buffer.alloc(0));
  private readonly entry = new AttributeReader(Buffer.alloc(0));
  private readonly data = new AttributeReader(Buffer.alloc(0));

  constructor(private readonly layout: SetLayout) {}

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
    let key = '';
    let value: string | undefined;
    let userdata = NO_USERDATA;
    entry.over(bytes, start, end);
    while (entry.next()) {
      if (entry.type === nf.ELEMENT.KEY) key = this.readData(bytes, layout.key) ?? '';
      else if (entry.type === nf.ELEMENT.DATA) value = this.readData(bytes, layout.value ?? []);
      else if (entry.type === nf.ELEMENT.USERDATA) userdata = readUserdata(bytes, entry.start, entry.end);
    }
    this.seen++;
    const { comment, digest } = userdata;
    this.elements.set(key, { key, value, comment, digest });
  }

  private readData(bytes: Buffer, components: SetLayout['key']): string | undefined {
    const { data, entry } = this;
    data.over(bytes, entry.start, entry.end);
    while (data.next()) {
      if (data.type === nf.DATA.VALUE) return componentsText(bytes, data.start, components);
      if (data.type === nf.DATA.VERDICT) return verdictWords(readVerdict(data.nested()));
    }
    return undefined;
  }
}

function verdictWords({ code, chain }: { readonly code: number; readonly chain?: string }): string {
  const [name = `verdict ${code}`] =
    Object.entries(nf.VERDICT_CODES).find(([, known]) => known === code) ?? [];
  return chain === undefined ? name : `${name} ${chain}`;
}

type Userdata = Pick<SetElement, 'comment' | 'digest'>;

const NO_USERDATA: Userdata = {};

/** The userdata of a rule or element, between these positions. */
export function readUserdata(bytes: Buffer, start = 0, end = bytes.length): Userdata {
  let comment: string | undefined;
  let digest: number | undefined;
  for (let at = start; at + 2 <= end; at += 2 + bytes[at + 1]!) {
    const [type, length] = [bytes[at], bytes[at + 1]!];
    const valueEnd = Math.min(end, at + 2 + length);
    // A text ends with a zero.
    if (type === nf.USERDATA.COMMENT) comment = bytes.toString('utf8', at + 2, valueEnd - 1);
    else if (type === nf.USERDATA.DIGEST && length === nf.DIGEST_LENGTH && at + 2 + length <= end)
      digest = bytes.readDoubleLE(at + 2);
  }
  return { comment, digest };
}
