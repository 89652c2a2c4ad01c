import { addressBits } from '../../../../domain/net/cidr.js';
import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { safeNetwork } from '../../../../domain/nftables/text/network.js';
import type {
  Comparison,
  Key,
  KeyField,
  RandomNumber,
  Rule,
  Statement,
} from '../../../../domain/nftables/layout/rule.js';
import { safeComment, safeNumber } from '../../../../domain/nftables/text/safe-text.js';
import type { MessageWriter } from '../../../netlink/message-writer.js';
import { ExpressionWriter, register } from './expression-writer.js';
import { familyWord, RULE } from '../nf-tables.js';
import { addressBytes, hostWord, interfaceBytes, maskBytes, networkPort, networkWord } from './operands.js';
import { commentUserdata } from './set-userdata.js';

const META = { PRIORITY: 2, MARK: 3, INPUT_NAME: 6, L4PROTO: 16 } as const;
const CT = { STATE: 0, STATUS: 2 } as const;
const CT_STATE_NEW = 8;
const CT_STATUS_DNAT = 0x20;
const RTN_LOCAL = 2;
/** Port unreachable. */
const ICMP_CODE = { IPv4: 3, IPv6: 4 } as const;
/** Offsets of the addresses in the network header. */
const OFFSET = { IPv4: { saddr: 12, daddr: 16 }, IPv6: { saddr: 8, daddr: 24 } } as const;

/** Writes a rule's expressions and comment as attributes of NEWRULE (docs/spec/nft-netlink.md §10). Throws UnsafeTextError. */
export function putRule(writer: MessageWriter, family: IpFamily, rule: Rule): void {
  const list = writer.beginNest(RULE.EXPRESSIONS);
  const encoder = new StatementEncoder(family, new ExpressionWriter(writer));
  for (const statement of rule.statements) encoder.encode(statement);
  writer.endNest(list);
  if (rule.comment !== undefined) writer.putBytes(RULE.USERDATA, commentUserdata(safeComment(rule.comment)));
}

class StatementEncoder {
  private readonly addressLength: 4 | 16;

  constructor(
    private readonly family: IpFamily,
    private readonly write: ExpressionWriter,
  ) {
    this.addressLength = family === 'IPv4' ? 4 : 16;
  }

  encode(statement: Statement): void {
    const { write } = this;
    switch (statement.kind) {
      case 'address':
        return this.address(statement.field, statement.is, statement.network);
      case 'input-interface':
        write.metaLoad(META.INPUT_NAME, 1);
        return write.compare(operator(statement.is), 1, interfaceBytes(statement.name, statement.wildcard));
      case 'dport':
        write.payload('transport', 2, 2, 1);
        return write.compare(operator(statement.is), 1, networkPort(statement.port));
      case 'local-address':
        write.fibType(statement.field, 1);
        return write.compare('eq', 1, hostWord(RTN_LOCAL));
      case 'new-connection':
        write.ctLoad(CT.STATE, 1);
        return this.hasBits(CT_STATE_NEW);
      case 'translated':
        write.ctLoad(CT.STATUS, 1);
        return this.hasBits(CT_STATUS_DNAT);
      case 'member':
        this.key(statement.key);
        return write.lookup(statement.set, { inverted: statement.is === '!=' });
      case 'verdict-map':
        this.key(statement.key);
        return write.lookup(statement.map, { dreg: 0 });
      case 'set-priority':
        if (statement.to === 'none') write.immediate(hostWord(0), 1);
        else if ('map' in statement.to) this.mapped(statement.to);
        else this.random(statement.to);
        return write.metaSet(META.PRIORITY, 1);
      case 'priority-at-least':
        write.metaLoad(META.PRIORITY, 1);
        write.hostToNetwork(1);
        return write.compare('gte', 1, networkWord(safeNumber('priority', statement.value, 0, 0xffffffff)));
      case 'mark-has':
        write.metaLoad(META.MARK, 1);
        return this.hasBits(markOf(statement.bit));
      case 'mark-set':
        return this.changeMark(~markOf(statement.bit), markOf(statement.bit));
      case 'mark-flip':
        return this.changeMark(0xffffffff, markOf(statement.bit));
      case 'remember':
        this.key(statement.key);
        return write.update(
          statement.set,
          safeNumber('timeout', statement.timeoutSeconds, 1, 0xffffffff) * 1000,
        );
      case 'dnat':
        this.mapped(statement);
        return write.dnat(familyWord(this.family), register(this.addressLength / 4));
      case 'masquerade':
        return write.masquerade();
      case 'reject':
        return write.reject(ICMP_CODE[this.family]);
      case 'drop':
      case 'return':
        return write.verdict(statement.kind);
      case 'jump':
      case 'goto':
        return write.verdict(statement.kind, statement.chain);
    }
  }

  private mapped({ key, map }: { readonly key: Key; readonly map: string }): void {
    this.key(key);
    this.write.lookup(map, { dreg: 1 });
  }

  /** Loads the fields into consecutive slots, starting with the first. */
  private key(key: Key): void {
    let slot = 0;
    for (const field of key) {
      this.field(field, register(slot));
      slot += field.field === 'saddr' || field.field === 'daddr' ? this.addressLength / 4 : 1;
    }
  }

  private field(field: KeyField, dreg: number): void {
    const { write, family, addressLength } = this;
    switch (field.field) {
      case 'saddr': {
        write.payload('network', OFFSET[family].saddr, addressLength, dreg);
        const bits = addressBits(family);
        const length = safeNumber('prefix length', field.prefixLength ?? bits, 0, bits);
        if (length < bits) write.bitwise(dreg, maskBytes(addressLength, length), Buffer.alloc(addressLength));
        return;
      }
      case 'daddr':
        return write.payload('network', OFFSET[family].daddr, addressLength, dreg);
      case 'l4proto':
        return write.metaLoad(META.L4PROTO, dreg);
      case 'dport':
        return write.payload('transport', 2, 2, dreg);
      case 'priority':
        return write.metaLoad(META.PRIORITY, dreg);
    }
  }

  private random({ modulus, offset }: RandomNumber): void {
    this.write.random(
      safeNumber('modulus', modulus, 1, 0xffffffff),
      safeNumber('offset', offset, 0, 0xffffffff),
      1,
    );
  }

  /** As nft does it: a prefix that ends at a byte boundary is compared by loading fewer bytes, others with a mask. */
  private address(field: 'saddr' | 'daddr', is: Comparison, text: string): void {
    const { family, addressLength, write } = this;
    const network = safeNetwork(family, text);
    const bytes = addressBytes(family, network.address);
    const wholeBytes = network.prefixLength > 0 && network.prefixLength % 8 === 0;
    const length = wholeBytes ? network.prefixLength / 8 : addressLength;
    write.payload('network', OFFSET[family][field], length, 1);
    if (!wholeBytes)
      write.bitwise(1, maskBytes(addressLength, network.prefixLength), Buffer.alloc(addressLength));
    write.compare(operator(is), 1, bytes.subarray(0, length));
  }

  private hasBits(bits: number): void {
    this.write.bitwise(1, hostWord(bits), hostWord(0));
    this.write.compare('neq', 1, hostWord(0));
  }

  private changeMark(mask: number, xor: number): void {
    this.write.metaLoad(META.MARK, 1);
    this.write.bitwise(1, hostWord(mask), hostWord(xor));
    this.write.metaSet(META.MARK, 1);
  }
}

function operator(comparison: Comparison): 'eq' | 'neq' {
  return comparison === '==' ? 'eq' : 'neq';
}

function markOf(bit: number): number {
  return 2 ** safeNumber('mark bit', bit, 0, 31);
}
