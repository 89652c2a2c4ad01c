import { walkWithDevices } from '../../../domain/iptables/walk/known-devices.js';
import type { Walk } from '../../../application/ports/tracer.js';
import {
  virtualServerKey,
  type VirtualServerId,
  type VirtualServerKey,
} from '../../../domain/ipvs/virtual-server.js';
import { walkIpvs, type IpvsSurroundings } from '../../../domain/ipvs/walk/ipvs-walk.js';
import type { WalkedServer } from '../../../domain/ipvs/walk/walked-server.js';
import type { Packet, PacketEnvironment } from '../../../domain/trace/packet.js';
import type { TracedEnding } from '../../../domain/trace/traced-ending.js';
import type { IpvsReader } from './ipvs-reader.js';

/**
 * Walks through what was read of the kernel. Virtual servers are asked for when a packet comes to them: to list all of them takes
 * a request for each.
 */
export class KernelWalk implements Walk {
  private readonly known = new Map<VirtualServerKey, WalkedServer | undefined>();

  constructor(
    private readonly read: Omit<IpvsSurroundings, 'server'>,
    private readonly open: () => Pick<IpvsReader, 'servers' | 'close'>,
  ) {}

  /** Walks again as long as the packet came to virtual servers that were not known yet. */
  async walk(packet: Packet, environment: PacketEnvironment): Promise<readonly TracedEnding[]> {
    for (;;) {
      const missing = new Map<VirtualServerKey, VirtualServerId>();
      const server = (id: VirtualServerId): WalkedServer | undefined => {
        const key = virtualServerKey(id);
        if (!this.known.has(key)) missing.set(key, id);
        return this.known.get(key);
      };
      const endings = await walkWithDevices(environment, (devices) =>
        walkIpvs({ ...this.read, server }, packet, environment, devices),
      );
      if (missing.size === 0) return endings;
      await this.look(missing.values());
    }
  }

  private async look(ids: Iterable<VirtualServerId>): Promise<void> {
    const reader = this.open();
    try {
      for (const id of ids) {
        const found = await reader.servers.find(id);
        this.known.set(virtualServerKey(id), found && { server: found, realServers: found.realServers });
      }
    } finally {
      reader.close();
    }
  }
}
