import { NetlinkSocket } from '../../../../src/adapters/netlink/netlink-socket.js';
import { MessageWriter } from '../../../../src/adapters/netlink/message-writer.js';
import type {
  AttributeLayout,
  Fields,
  Values,
} from '../../../../src/adapters/nftables/netlink/attribute-layout.js';
import type { Expression, KernelVerdict } from '../../../../src/domain/nftables/kernel/ruleset.js';
import { CHAIN, RULE, TABLE } from '../../../../src/adapters/nftables/netlink/records.js';
import * as nf from '../../../../src/adapters/nftables/netlink/nf-tables.js';
import { readActualWalk } from '../../../../src/diagnostics/adapters/rules/nftables-kernel.js';
import type { Packet } from '../../../../src/diagnostics/domain/trace/trace.js';
import { commitMessage, FakeLibc, plainMessage } from '../../../support/fake-libc.js';

const DONE = 3;
const packet: Packet = {
  family: 'IPv4',
  inputInterface: 'eth0',
  source: '192.0.2.1',
  destination: '198.51.100.1',
  protocol: 'TCP',
  destinationPort: 80,
};
const verdict = (code: KernelVerdict['code'], chain?: string): Expression => ({
  kind: 'verdict',
  verdict: chain === undefined ? { code } : { code, chain },
});

interface Rule {
  readonly chain: string;
  readonly expression: Expression;
  readonly comment?: string;
}

/** A kernel with one table of another program, whose only listed chain is a base chain at the hook forward. */
class FakeKernel extends FakeLibc {
  /** How often its generation was asked for. */
  asked = 0;

  constructor(
    private readonly rules: (asked: number) => readonly Rule[],
    private readonly isBusy: boolean,
  ) {
    super();
  }

  override send(fd: number, bytes: Buffer, length: number): number {
    const [type, sequence, family] = [bytes.readUInt16LE(4), bytes.readUInt32LE(8), bytes[16]];
    const one = <F extends Fields>(kind: number, layout: AttributeLayout<F>, values: Values<F>) =>
      this.incoming.push(message(kind, sequence, layout, values));
    if (type === nf.GETGEN) {
      const generation = this.isBusy ? this.asked + 1 : 1;
      this.asked++;
      this.incoming.push(commitMessage(sequence, { generation }));
    } else {
      if (family === 2) this.list(type, one);
      this.incoming.push(plainMessage(DONE, sequence));
    }
    return super.send(fd, bytes, length);
  }

  private list(
    type: number,
    one: <F extends Fields>(kind: number, layout: AttributeLayout<F>, values: Values<F>) => void,
  ): void {
    const table = 'other';
    if (type === nf.GETTABLE) one(nf.NEWTABLE, TABLE, { name: table, handle: 1 });
    const hook = { hook: 'forward', priority: 0 } as const;
    if (type === nf.GETCHAIN)
      one(nf.NEWCHAIN, CHAIN, { table, name: 'forward', handle: 1, type: 'filter', hook, policy: 1 });
    if (type !== nf.GETRULE) return;
    for (const { chain, expression, comment } of this.rules(this.asked))
      one(nf.NEWRULE, RULE, { table, chain, expressions: [expression], userdata: { comment } });
  }
}

function message<F extends Fields>(
  type: number,
  sequence: number,
  layout: AttributeLayout<F>,
  values: Values<F>,
): Buffer {
  const writer = new MessageWriter(1024);
  const start = writer.beginMessage(type, 0, sequence);
  writer.putWord(2);
  layout.write(writer, values);
  writer.endMessage(start);
  return Buffer.from(writer.bytes.subarray(0, writer.length));
}

async function walked(kernel: FakeKernel) {
  const walk = await readActualWalk('IPv4', undefined, (protocol) =>
    NetlinkSocket.open(protocol, { libc: kernel }),
  );
  const [ending] = await walk.walk(packet, { localAddresses: new Set() });
  const { verdict: met, steps } = ending!;
  return {
    met,
    doubts: steps.filter(({ uncertain }) => uncertain).map(({ where, effect }) => `${where} ${effect}`),
  };
}

const drop: Rule = { chain: 'forward', expression: verdict('drop') };

describe('rules as the kernel has them', () => {
  it('are read once where nobody commits', async () => {
    const kernel = new FakeKernel(() => [drop], false);
    expect(await walked(kernel)).toEqual({ met: 'drop', doubts: [] });
    expect(kernel.asked).toBe(2);
  });

  it('are certain where other programs commit all the time, but change nothing that packets meet', async () => {
    const kernel = new FakeKernel(() => [drop], true);
    expect(await walked(kernel)).toEqual({ met: 'drop', doubts: [] });
    expect(kernel.asked).toBe(4);
  });

  it('are followed, and named as uncertain, where another program changes its table all the time', async () => {
    const changing = (asked: number): Rule[] => [{ ...drop, comment: `${asked}` }];
    const kernel = new FakeKernel(changing, true);
    const doubt = expect.stringMatching(/^ip other another program changes this table/) as string;
    expect(await walked(kernel)).toEqual({ met: 'drop', doubts: [doubt] });
  });

  it('are uncertain where a chain was passed over, or came later', async () => {
    const passedOver = new FakeKernel(() => [drop, { chain: 'gone', expression: verdict('accept') }], false);
    expect(await walked(passedOver)).toMatchObject({ met: 'drop', doubts: { length: 1 } });
    const later = new FakeKernel(() => [{ ...drop, expression: verdict('jump', 'new') }, drop], false);
    expect(await walked(later)).toEqual({
      met: 'drop',
      doubts: [
        expect.stringContaining('the chain new, which was added while the others were read') as string,
      ],
    });
  });
});
