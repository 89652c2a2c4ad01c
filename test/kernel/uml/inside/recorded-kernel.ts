import type { Step } from '../../../conformance/scenarios.js';

/** Where commands run: a host of the test bed, or the guest itself. */
export interface Shell {
  run(command: readonly string[], input: string): Promise<string>;
}

/** Takes off the node whatever a run in mode ipvs may have left. */
export async function emptyNode(host: Shell): Promise<void> {
  await host.run(
    ['sh', '-e'],
    `
      for tool in iptables-legacy-restore ip6tables-legacy-restore; do
        printf '*mangle\\nCOMMIT\\n*nat\\nCOMMIT\\n*filter\\nCOMMIT\\n' | $tool -w 5
      done
      ipset destroy
      ipvsadm -C
      ip link delete kube-ipvs0 2>/dev/null || true
      conntrack -F 2>/dev/null || true
    `,
  );
}

/**
 * Puts onto an empty node what kube-proxy left on it in mode ipvs, but for real servers that only drained: here they have
 * no connections.
 */
export async function leaveRecorded(host: Shell, { tables }: Step): Promise<void> {
  const [ipv4, ipv6, servers, sets, addresses] = tables as [string, string, string, string, string];
  const bound = addresses.split(/\s+/).filter((word) => word.includes('/'));
  await host.run(
    ['sh', '-e'],
    `
      for name in conntrack expire_nodest_conn expire_quiescent_template; do
        echo 1 >/proc/sys/net/ipv4/vs/$name
      done
      ip link add kube-ipvs0 type dummy
      ip -batch - <<END
${bound.map((address) => `addr add ${address} dev kube-ipvs0`).join('\n')}
END
      ipset restore <<END
${sets}
END
      iptables-legacy-restore -w 5 <<END
${ipv4}
END
      ip6tables-legacy-restore -w 5 <<END
${ipv6}
END
      ipvsadm -R <<END
${servers.replace(/^.* -w 0$/gm, '')}
END
    `,
  );
}
