import { walkWithDevices } from '../../../../src/diagnostics/domain/walk/on-demand.js';
import type { PacketPath } from '../../../../src/diagnostics/domain/trace/trace.js';
import { NODE, walked } from '../../../support/iptables/walked.js';

const RULES = {
  nat: ['-A PREROUTING -d 10.96.0.10/32 -j DNAT --to-destination 10.1.1.1:80'],
  filter: ['-A FORWARD -o eth+ -p udp -j DROP', '-A FORWARD ! -o cni0 -j DROP'],
};

describe('a rule about the device that packets go out through', () => {
  const asked: string[] = [];
  const follow = (packet: object, device: string): Promise<readonly PacketPath[]> =>
    walkWithDevices(
      {
        ...NODE,
        deviceTowards: (address) => {
          asked.push(address);
          return Promise.resolve(device);
        },
      },
      (devices) => walked(RULES, packet, {}, { devices }),
    );

  it('is decided by the route to the new destination, which is asked for once', async () => {
    expect(await follow({}, 'cni0')).toMatchObject([{ verdict: 'forward' }]);
    expect(asked.splice(0)).toEqual(['10.1.1.1']);
    expect(await follow({}, 'eth0')).toMatchObject([{ verdict: 'drop', steps: [{}, { foreign: true }] }]);
  });

  it('asks nothing where no rule looks at devices, or the packet stays here', async () => {
    asked.length = 0;
    expect(await follow({ destination: '198.51.100.1' }, 'eth0')).toMatchObject([{ verdict: 'untouched' }]);
    expect(asked).toEqual([]);
  });

  it('cannot be told where routes are not known', async () => {
    const [ending] = await walkWithDevices(NODE, (devices) => walked(RULES, {}, {}, { devices }));
    expect(ending).toMatchObject({ verdict: 'forward' });
    expect(ending!.steps.at(-1)).toMatchObject({ uncertain: true });
  });
});
