import { setTimeout as pause } from 'node:timers/promises';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { TableParser, type ParsedTable } from '../../../domain/nftables/text/parse-text.js';
import { renderRule } from '../../../domain/nftables/text/render-text.js';
import type { Rule } from '../../../domain/nftables/layout/rule.js';
import {
  nftFamily,
  TABLE_NAME,
  type ChainDefinition,
  type Operation,
  type SetDefinition,
} from '../../../domain/nftables/layout/table.js';
import {
  NftCommitError,
  type ChainState,
  type NftTransport,
  type SetState,
  type TableState,
} from '../transport.js';
import { NftFailedError } from './errors.js';
import { describeChain, describeHook, describeParsedSet, describeRule, describeSet } from './fingerprints.js';
import { readFailures } from './messages.js';
import { NftTool, type NftToolOptions } from './nft-tool.js';
import { writeScript } from './script.js';

/**
 * After a large commit the kernel grows a set's hash table in the background; a listing meanwhile repeats some elements
 * and omits as many others.
 */
const READ_ATTEMPTS = 20;
const PAUSE_MILLISECONDS = 100;

/**
 * nf_tables through the `nft` tool: `nft -f -` to write, `nft list table` to read. If nft cannot be used at all, calls
 * reject with an NftToolError.
 */
export class CliNftTransport implements NftTransport {
  readonly name = 'cli';
  private readonly tool: NftTool;

  constructor(options: NftToolOptions = {}) {
    this.tool = new NftTool(options);
  }

  async commit(family: IpFamily, operations: readonly Operation[]): Promise<undefined> {
    const script = await writeScript(family, operations);
    if (script.pieces.length === 0) return undefined;
    const outcome = await this.tool.load(script.pieces);
    if (!outcome.succeeded) throw new NftCommitError(family, readFailures(outcome.messages, script));
    return undefined;
  }

  async read(
    family: IpFamily,
    expected: readonly SetDefinition[],
    signal?: AbortSignal,
  ): Promise<TableState | undefined> {
    const layouts = new Map(expected.map((set) => [set.name, describeSet(family, set)]));
    const isExpected = (set: SetDefinition): boolean =>
      set.dynamicSize === undefined && layouts.get(set.name) === describeSet(family, set);
    for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(PAUSE_MILLISECONDS);
      signal?.throwIfAborted();
      const parser = new TableParser(family, isExpected);
      const outcome = await this.tool.list(nftFamily(family), TABLE_NAME, (text) => {
        signal?.throwIfAborted();
        parser.push(text);
      });
      if (outcome.messages.includes('No such file or directory')) return undefined;
      if (!outcome.succeeded) throw new NftFailedError(listing(family), outcome.messages.trim());
      const table = parser.end();
      if (!parser.hasRepeatedElements) return describeTable(family, table);
    }
    throw new NftFailedError(
      listing(family),
      `elements were listed twice in each of ${READ_ATTEMPTS} attempts`,
    );
  }

  /** Unavailable: nft has no cheap way to get it. */
  generation(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  fingerprintRule(family: IpFamily, rule: Rule): string {
    return renderRule(family, rule);
  }

  fingerprintSet(family: IpFamily, set: SetDefinition): string {
    return describeSet(family, set);
  }

  fingerprintChain(chain: ChainDefinition): string {
    return describeHook(chain.hook);
  }

  close(): Promise<void> {
    this.tool.close();
    return Promise.resolve();
  }
}

const listing = (family: IpFamily): string => `listing table ${nftFamily(family)} ${TABLE_NAME}`;

function describeTable(family: IpFamily, table: ParsedTable): TableState {
  const chains = new Map<string, ChainState>();
  for (const [name, chain] of table.chains) {
    chains.set(name, {
      fingerprint: describeChain(chain),
      rules: chain.rules.map((rule) => describeRule(family, rule)),
    });
  }
  const sets = new Map<string, SetState>();
  for (const [name, set] of table.sets) {
    sets.set(name, { fingerprint: describeParsedSet(family, set), elements: set.elements });
  }
  return { chains, sets };
}
