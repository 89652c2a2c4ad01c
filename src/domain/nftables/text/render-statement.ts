import ipaddr from 'ipaddr.js';
import { addressBits, maskAddress } from '../../net/cidr.js';
import type { IpFamily } from '../../net/ip-family.js';
import { networkText, safeNetwork } from './network.js';
import { formatPriority } from '../layout/priority.js';
import type { Comparison, Key, KeyField, Statement } from '../layout/rule.js';
import { safeInterface, safeName, safeNumber, UnsafeTextError } from './safe-text.js';
import { nftFamily } from '../layout/table.js';

const MAX_UINT32 = 0xffffffff;

/** One statement in the words of `nft --numeric-priority --numeric-time list`. Throws UnsafeTextError. */
export function renderStatement(family: IpFamily, statement: Statement): string {
  switch (statement.kind) {
    case 'address':
      return `${nftFamily(family)} ${statement.field} ${not(statement.is)}${networkText(safeNetwork(family, statement.network))}`;
    case 'input-interface':
      return `iifname ${not(statement.is)}"${safeInterface(statement.name)}${statement.wildcard ? '*' : ''}"`;
    case 'dport':
      return `th dport ${not(statement.is)}${safeNumber('port', statement.port, 0, 65535)}`;
    case 'local-address':
      return `fib ${statement.field} type local`;
    case 'new-connection':
      return 'ct state new';
    case 'translated':
      return 'ct status dnat';
    case 'member':
      return `${renderKey(family, statement.key)} ${not(statement.is)}@${safeName(statement.set)}`;
    case 'verdict-map':
      return `${renderKey(family, statement.key)} vmap @${safeName(statement.map)}`;
    case 'set-priority':
      return `meta priority set ${renderPriority(family, statement.to)}`;
    case 'priority-at-least':
      return `meta priority >= ${formatPriority(safeNumber('priority', statement.value, 0, MAX_UINT32))}`;
    case 'mark-has':
      return `meta mark & ${renderMark(statement.bit)} != 0x00000000`;
    case 'mark-set':
      return `meta mark set meta mark | ${renderMark(statement.bit)}`;
    case 'mark-flip':
      return `meta mark set meta mark ^ ${renderMark(statement.bit)}`;
    case 'remember': {
      const timeout = safeNumber('timeout', statement.timeoutSeconds, 1, MAX_UINT32);
      return `update @${safeName(statement.set)} { ${renderKey(family, statement.key)} timeout ${timeout}s }`;
    }
    case 'dnat':
      // nft takes a port only after a statement that implies a transport protocol, such as `th dport`: the compiler adds that.
      return `dnat ${nftFamily(family)} to ${renderMap(family, statement)}`;
    case 'masquerade':
      return 'masquerade fully-random';
    case 'reject':
    case 'drop':
    case 'return':
      return statement.kind;
    case 'jump':
    case 'goto':
      return `${statement.kind} ${safeName(statement.chain)}`;
  }
}

function renderMap(family: IpFamily, lookup: { readonly key: Key; readonly map: string }): string {
  return `${renderKey(family, lookup.key)} map @${safeName(lookup.map)}`;
}

/** A lookup key: its fields joined by ` . `. */
function renderKey(family: IpFamily, key: Key): string {
  if (key.length === 0) throw new UnsafeTextError('key', '', 'at least one field');
  return key.map((field) => renderField(family, field)).join(' . ');
}

function renderField(family: IpFamily, field: KeyField): string {
  switch (field.field) {
    case 'saddr': {
      const address = `${nftFamily(family)} saddr`;
      const bits = addressBits(family);
      const length = safeNumber('prefix length', field.prefixLength ?? bits, 0, bits);
      return length === bits ? address : `${address} & ${networkMask(family, length)}`;
    }
    case 'daddr':
      return `${nftFamily(family)} daddr`;
    case 'l4proto':
      return 'meta l4proto';
    case 'dport':
      return 'th dport';
    case 'priority':
      return 'meta priority';
  }
}

/** The mask of that prefix length, as an address. */
function networkMask(family: IpFamily, prefixLength: number): string {
  const everything =
    family === 'IPv4' ? '255.255.255.255' : new ipaddr.IPv6(Array<number>(16).fill(255)).toString();
  return maskAddress(everything, prefixLength);
}

/** The mark of that bit as eight hex digits. */
function renderMark(bit: number): string {
  const mark = 2 ** safeNumber('mark bit', bit, 0, 31);
  return `0x${mark.toString(16).padStart(8, '0')}`;
}

function not(comparison: Comparison): string {
  return comparison === '==' ? '' : '!= ';
}

function renderPriority(family: IpFamily, to: Extract<Statement, { kind: 'set-priority' }>['to']): string {
  if (to === 'none') return 'none';
  if ('map' in to) return renderMap(family, to);
  const draw = `numgen random mod ${safeNumber('modulus', to.modulus, 1, MAX_UINT32)}`;
  return to.offset === 0 ? draw : `${draw} offset ${safeNumber('offset', to.offset, 1, MAX_UINT32)}`;
}
