import { MessageBuilder } from '../../simulation/kernel/netlink/message-builder.js';
import { E, NLA, NLMSG, NLM_F, aligned } from '../../simulation/kernel/netlink/numbers.js';
import { ELEMENT, ELEMENTS, MSG, RULE, SET, SUBSYSTEM } from '../../simulation/kernel/nf-tables/numbers.js';
import type { ToldMessage } from './conversation.js';

/** An attribute: its number, and its bytes or what is in it. */
type Part = readonly [type: number, value: string | readonly Part[]];

/** The paths of attributes that contain others, by the kind of message. */
const ELEMENT_NESTS = ['3', '3.1', '3.1.1', '3.1.2', '3.1.2.2'];
const RULE_NESTS = ['4', '4.1', '4.1.2'];
const NESTS: Readonly<Record<number, readonly string[]>> = {
  [MSG.NEWCHAIN]: ['4'],
  [MSG.NEWRULE]: RULE_NESTS,
  [MSG.DELRULE]: RULE_NESTS,
  [MSG.NEWSET]: ['9'],
  [MSG.NEWSETELEM]: ELEMENT_NESTS,
  [MSG.DELSETELEM]: ELEMENT_NESTS,
  [MSG.NEWOBJ]: ['4'],
};
/** Handles, which depend on how often the kernel had to begin again; of recent kernels the kind of a set's table. */
const VARYING: Readonly<Record<number, readonly number[]>> = {
  [MSG.NEWTABLE]: [4],
  [MSG.DELTABLE]: [4],
  [MSG.NEWCHAIN]: [2],
  [MSG.DELCHAIN]: [2],
  [MSG.NEWRULE]: [RULE.HANDLE, RULE.POSITION],
  [MSG.DELRULE]: [RULE.HANDLE, RULE.POSITION],
  [MSG.NEWSET]: [SET.HANDLE, 19],
  [MSG.DELSET]: [SET.HANDLE],
  [MSG.NEWOBJ]: [6],
  [MSG.DELOBJ]: [6],
};
/** What of NLMSG.ERROR says which message it is about, and what follows. */
const [SEQUENCE_AT, DETAILS_AT] = [12, 20];

/** What the kernel says to a batch, in an order of its own, as it tells of elements in any order. */
export function answersIn(told: readonly ToldMessage[]): readonly unknown[] {
  const texts = told.map(({ type, payload }) => {
    const bytes = Buffer.from(payload, 'hex');
    if (type !== NLMSG.ERROR) return JSON.stringify(objectOf(type & 0xff, bytes));
    const details = partsOf(bytes.subarray(DETAILS_AT), undefined, '');
    const errno = -bytes.readInt32LE(0);
    // Where a chain is too deep and wrong for its hook, too, the first that is met counts, in any order of elements.
    const isOfReach = details.length === 0 && (errno === E.EMLINK || errno === E.EOPNOTSUPP);
    return JSON.stringify([
      bytes.readUInt32LE(SEQUENCE_AT),
      isOfReach ? 'wrong from a hook' : errno,
      details,
    ]);
  });
  return texts.sort();
}

/** Questions whose answers are all that the kernel has but for elements. */
export const EVERYTHING = [MSG.GETTABLE, MSG.GETCHAIN, MSG.GETRULE, MSG.GETSET, MSG.GETOBJ] as const;

export function dumpRequest(
  kind: number,
  family = 0,
  put: (builder: MessageBuilder) => unknown = () => {},
): Buffer {
  const builder = new MessageBuilder();
  builder
    .begin((SUBSYSTEM << 8) | kind, NLM_F.REQUEST | NLM_F.DUMP, 1, 0)
    .raw(Uint8Array.of(family, 0, 0, 0));
  put(builder);
  return builder.end().take();
}

/** The objects of a dump. */
export function objectsIn(told: readonly ToldMessage[]): readonly unknown[] {
  return told
    .filter(({ type }) => type !== NLMSG.DONE)
    .map(({ type, payload }) => objectOf(type & 0xff, Buffer.from(payload, 'hex')));
}

/** The elements of a dump, without the time that is left to them, in an order of their own. */
export function elementsIn(told: readonly ToldMessage[]): readonly string[] {
  return told
    .filter(({ type }) => type >> 8 === SUBSYSTEM)
    .flatMap(({ payload }) => partsOf(Buffer.from(payload, 'hex').subarray(4), ELEMENT_NESTS, ''))
    .flatMap(([type, value]) => (type === ELEMENTS.LIST ? (value as readonly Part[]) : []))
    .map((element) => JSON.stringify(element))
    .sort();
}

/** The sets that a dump of sets tells of. */
export function setsIn(
  told: readonly ToldMessage[],
): readonly { family: number; table: string; name: string }[] {
  return told
    .filter(({ type }) => type >> 8 === SUBSYSTEM)
    .map(({ payload }) => {
      const bytes = Buffer.from(payload, 'hex');
      const parts = new Map(partsOf(bytes.subarray(4), undefined, ''));
      const text = (type: number): string =>
        Buffer.from(String(parts.get(type)), 'hex')
          .toString('latin1')
          .replace('\0', '');
      return { family: bytes[0]!, table: text(SET.TABLE), name: text(SET.NAME) };
    });
}

function objectOf(kind: number, bytes: Buffer): unknown {
  if (kind === MSG.NEWGEN) return [kind];
  const varying = VARYING[kind] ?? [];
  const parts = partsOf(bytes.subarray(4), NESTS[kind], '');
  return [kind, bytes[0], parts.filter(([type]) => !varying.includes(type))];
}

function partsOf(bytes: Buffer, nests: readonly string[] | undefined, before: string): readonly Part[] {
  const parts: Part[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += aligned(bytes.readUInt16LE(at))) {
    const type = bytes.readUInt16LE(at + 2) & NLA.TYPE_MASK;
    const path = `${before}${type}`;
    const value = bytes.subarray(at + 4, at + bytes.readUInt16LE(at));
    const isTimeLeft = nests === ELEMENT_NESTS && path === `3.1.${ELEMENT.EXPIRATION}`;
    if (!isTimeLeft)
      parts.push([type, nests?.includes(path) ? partsOf(value, nests, `${path}.`) : value.toString('hex')]);
  }
  // The order of a list means something, that of attributes does not.
  return parts.every(([type]) => type === 1) ? parts : parts.sort(([one], [other]) => one - other);
}
