import { walkWithDevices } from '../../domain/iptables/known-devices.js';
import type { Walk } from '../../application/ports/tracer.js';
import { virtualServerKey, type VirtualServerId } from '../../../domain/ipvs/virtual-server.js';
import { walkIpvs, type IpvsSurroundings } from '../../domain/ipvs/ipvs-walk.js';
import type { WalkedServer } from '../../domain/ipvs/walked-server.js';
import type { Packet, PacketEnvironment } from '../../domain/trace/packet.js';
import type { TracedEnding } from '../../domain/trace/traced-ending.js';
import { OnDemand } from '../../domain/walk/on-demand.js';
import type { IpvsReader } from './ipvs-reader.js';

/**
 * Walks through what was read of the kernel. Virtual servers are asked for when a packet comes to them: to list all of them takes
 * a request for each.
 */
export class KernelWalk implements Walk {
  constructor(
    private readonly read: Omit<IpvsSurroundings, 'server'>,
    private readonly open: () => Pick<IpvsReader, 'servers' | 'close'>,
  ) {}

  walk(packet: Packet, environment: PacketEnvironment): Promise<readonly TracedEnding[]> {
    const servers = new OnDemand((id: VirtualServerId) => this.look(id), virtualServerKey);
    const surroundings = { ...this.read, server: servers.find };
    return walkWithDevices(
      environment,
      (devices) => walkIpvs(surroundings, packet, environment, devices),
      servers,
    );
  }

  private async look(id: VirtualServerId): Promise<WalkedServer | undefined> {
    const reader = this.open();
    try {
      const found = await reader.servers.find(id);
      return found && { server: found, realServers: found.realServers };
    } finally {
      reader.close();
    }
  }
}
