import { iptablesBackend } from '../../support/backends.js';
import {
  cleanUpScripts,
  holdsProxyChains,
  judgeFirewall,
  removableChains,
} from '../../../src/adapters/iptables/owned-chains.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { renderSave } from '../../support/iptables/render-save.js';
import { HOST, nodeNetwork } from '../../support/iptables/services.js';

const JUMPS = [':KUBE-FIREWALL - [0:0]', '-A INPUT -j KUBE-FIREWALL', '-A OUTPUT -j KUBE-FIREWALL'];
const RULE = expect.stringMatching(/^-A KUBE-FIREWALL .* -j DROP$/) as string;

/** What is left of KUBE-FIREWALL after mode iptables ran on a node, with something of others, and was removed. */
async function left(
  ran: { readonly localhostNodePorts: boolean; readonly others?: string },
  routesLocalnet: boolean,
): Promise<readonly string[]> {
  const iptables = new MemoryIptables();
  const backend = iptablesBackend(
    'IPv4',
    iptables,
    iptables.watch(),
    () => Promise.resolve(HOST),
    new MemoryLogger(),
    {
      cleanUp: (saved) => cleanUpScripts(saved, removableChains(judgeFirewall(saved, routesLocalnet))),
    },
  );
  await backend.start([], { ...nodeNetwork(), localhostNodePorts: ran.localhostNodePorts });
  if (ran.others !== undefined) iptables.tamper('IPv4', ran.others);
  await backend.cleanup();
  return renderSave(await iptables.save('IPv4')).match(/^.*(?:KUBE-FIREWALL|KUBE-S).*$/gm) ?? [];
}

describe('KUBE-FIREWALL, when mode iptables is removed', () => {
  it('goes with its jumps where it protects from nothing', async () => {
    expect(await left({ localhostNodePorts: true }, false)).toEqual([]);
    expect(await left({ localhostNodePorts: false }, false)).toEqual([]);
  });

  it('stays while the kernel lets packets for 127.0.0.0/8 in, unless it is empty anyway', async () => {
    expect(new Set(await left({ localhostNodePorts: true }, true))).toEqual(new Set([...JUMPS, RULE]));
    expect(await left({ localhostNodePorts: false }, true)).toEqual([]);
  });

  it.each([
    ['a kubelet made it too', '*nat\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT\n'],
    ['a kubelet chose the tool', '*mangle\n:KUBE-IPTABLES-HINT - [0:0]\nCOMMIT\n'],
    ['another rule is in it', '*filter\n-A KUBE-FIREWALL -s 192.0.2.1/32 -j DROP\nCOMMIT\n'],
  ])('stays as it is where %s', async (_, others) => {
    expect(await left({ localhostNodePorts: true, others }, false)).toEqual(
      expect.arrayContaining([...JUMPS, RULE]),
    );
  });

  it('counts as the chain of a proxy only without a kubelet', () => {
    expect(holdsProxyChains(['KUBE-FIREWALL', 'OTHER'])).toBe(true);
    expect(holdsProxyChains(['KUBE-FIREWALL', 'KUBE-KUBELET-CANARY', 'KUBE-IPTABLES-HINT'])).toBe(false);
    expect(holdsProxyChains(['KUBE-SERVICES', 'KUBE-KUBELET-CANARY'])).toBe(true);
    expect(holdsProxyChains(['OTHER'])).toBe(false);
  });
});
