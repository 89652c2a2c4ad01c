import { setTimeout as pause } from 'node:timers/promises';
import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { TABLE_NAME, type SetDefinition, type SetElement } from '../../../../domain/nftables/layout/table.js';
import type { AttributeReader } from '../../../netlink/attribute-reader.js';
import type { NetlinkMessage } from '../../../netlink/message-reader.js';
import type { MessageWriter } from '../../../netlink/message-writer.js';
import type { ChainState, SetState, TableState } from '../../transport.js';
import { fingerprintSet } from './fingerprints.js';
import * as nf from '../nf-tables.js';
import { setLayout } from '../encode/set-layout.js';
import { attributesOf, ElementReader, readChain, readRule, readSet, type ListedSet } from './table-reader.js';

const ELEMENT_ATTEMPTS = 20;
const PAUSE_MILLISECONDS = 20;

/** A question to the kernel about one family. */
export interface Question {
  readonly type: number;
  /** For messages. */
  readonly name: string;
  /** Requests all objects of the kind rather than one. */
  readonly all?: boolean;
  readonly put?: (writer: MessageWriter) => void;
  readonly onMessage?: (message: NetlinkMessage) => void;
}

/** Asks the kernel; false if the requested object does not exist. */
export type Ask = (question: Question) => Promise<boolean>;

/** Chains with their rules, and the sets without elements: what takes the kernel only a few milliseconds to list. */
export interface TableStructure {
  readonly chains: ReadonlyMap<string, ChainState>;
  readonly sets: readonly ListedSet[];
}

/**
 * Reads the structure once. Undefined if there is no table. 'disturbed' if parts were not found, because it or another table
 * changed meanwhile; a change that is not detected this way shows in the generation.
 */
export async function queryStructure(ask: Ask): Promise<TableStructure | undefined | 'disturbed'> {
  const put = (writer: MessageWriter) => writer.putText(nf.TABLE.NAME, TABLE_NAME);
  if (!(await ask({ type: nf.GETTABLE, name: 'GETTABLE', put }))) return undefined;
  const chains = await queryChains(ask);
  const sets = chains && (await querySets(ask));
  return chains && sets ? { chains, sets } : 'disturbed';
}

/**
 * Adds the elements of sets with an expected layout. Transactions on other tables do not disturb this. 'disturbed' if a set was not
 * found, or its elements changed all the time.
 */
export async function queryContents(
  ask: Ask,
  { chains, sets: listed }: TableStructure,
  family: IpFamily,
  expected: readonly SetDefinition[],
): Promise<TableState | 'disturbed'> {
  const sets = new Map<string, SetState>();
  const definitions = new Map(expected.map((set) => [set.name, set]));
  for (const set of listed) {
    const definition = definitions.get(set.name);
    const known = definition?.dynamicSize === undefined && definition;
    const elements =
      known && set.fingerprint === fingerprintSet(family, known)
        ? await queryElements(ask, set, () => new ElementReader(setLayout(family, known)))
        : new Map<string, SetElement>();
    if (!elements) return 'disturbed';
    sets.set(set.name, { fingerprint: set.fingerprint, elements, count: set.count });
  }
  return { chains, sets };
}

/**
 * Chains with the fingerprints of their rules in order. The kernel lists chains of all tables and finds its place again
 * by counting, so it skips one of ours if chains of another table are deleted meanwhile; the rules, listed by table,
 * reveal that.
 */
async function queryChains(ask: Ask): Promise<ReadonlyMap<string, ChainState> | undefined> {
  const chains = new Map<string, { fingerprint: string; rules: string[] }>();
  let passedOver = false;
  await dump(ask, nf.GETCHAIN, 'GETCHAIN', (attributes) => {
    const chain = readChain(attributes);
    if (chain) chains.set(chain.name, { fingerprint: chain.fingerprint, rules: [] });
  });
  const complete = await dump(ask, nf.GETRULE, 'GETRULE', (attributes) => {
    const { chain, fingerprint } = readRule(attributes);
    const { rules } = chains.get(chain) ?? {};
    if (rules) rules.push(fingerprint);
    else passedOver = true;
  });
  return complete && !passedOver ? chains : undefined;
}

async function querySets(ask: Ask): Promise<readonly ListedSet[] | undefined> {
  const sets: ListedSet[] = [];
  const complete = await dump(ask, nf.GETSET, 'GETSET', (attributes) => {
    const set = readSet(attributes);
    if (set) sets.push(set);
  });
  return complete ? sets : undefined;
}

/**
 * The elements of a set. The kernel grows its hash table in the background after large insertions, and a dump meanwhile
 * omits some elements and repeats others, without any indication. So a dump is valid if no element came twice and their
 * number is the kernel's count, or the same as in the dump before.
 */
async function queryElements(
  ask: Ask,
  { name, count }: ListedSet,
  newReader: () => ElementReader,
): Promise<ReadonlyMap<string, SetElement> | undefined> {
  const put = (writer: MessageWriter) => {
    writer.putText(nf.ELEMENTS.TABLE, TABLE_NAME);
    writer.putText(nf.ELEMENTS.SET, name);
  };
  let former: number | undefined;
  for (let attempt = 0; attempt < ELEMENT_ATTEMPTS; attempt++) {
    if (attempt > 0) await pause(PAUSE_MILLISECONDS);
    const reader = newReader();
    const onMessage = (message: NetlinkMessage) => reader.read(message);
    if (!(await ask({ type: nf.GETSETELEM, name: 'GETSETELEM', all: true, put, onMessage })))
      return undefined;
    const { elements, seen } = reader;
    const { size } = elements;
    if (seen === size && (count === undefined || size === count || size === former)) return elements;
    former = size;
  }
  return undefined;
}

function dump(
  ask: Ask,
  type: number,
  name: string,
  onEntry: (attributes: AttributeReader) => void,
): Promise<boolean> {
  // The table's name is attribute number 1 of every object.
  const put = (writer: MessageWriter) => writer.putText(1, TABLE_NAME);
  return ask({ type, name, all: true, put, onMessage: (message) => onEntry(attributesOf(message)) });
}
