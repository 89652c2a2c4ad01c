import { replyPathRemarks } from '../../../../src/diagnostics/application/trace/trace-packets.js';
import type { Packet, Trace } from '../../../../src/diagnostics/domain/trace/trace.js';
const arriving = { inputInterface: 'eth0', source: '192.0.2.9' } as Packet;
const forwarded = (sourceRewrite: Trace['sourceRewrite']) => ({ outcome: 'forward', sourceRewrite }) as Trace;

it.each([
  ['always', /^the endpoint sees an address of this node, so its replies come back here/],
  ['never', /^the endpoint sees 192\.0\.2\.9; its replies must pass this node/],
  ['mixed', /^some endpoints see an address of this node and others 192\.0\.2\.9; replies must pass/],
] as const)('replies to a packet from elsewhere, source rewritten %s', (sourceRewrite, way) => {
  expect(replyPathRemarks(forwarded(sourceRewrite), arriving)).toEqual([expect.stringMatching(way)]);
});

it('replies to the node itself come back to it', () => {
  const sent = { ...arriving, inputInterface: undefined };
  expect(replyPathRemarks(forwarded('never'), sent)).toEqual([
    expect.stringMatching(/^replies come back to this node/),
  ]);
});

it('nobody replies to what is not forwarded', () => {
  expect(replyPathRemarks({ outcome: 'drop' } as Trace, arriving)).toEqual([]);
});
