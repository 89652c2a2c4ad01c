import type { Socket } from 'node:dgram';

/** What may wait in a socket for the kernel, in bytes. More is dropped, as the network would. */
const MOST_WAITING = 1024 * 1024;

/** Sends without waiting, to the peer of a connected socket when no other is named. */
export function send(
  socket: Socket,
  datagram: Buffer,
  failed: (error: Error) => void,
  to?: { readonly address: string; readonly port: number },
): void {
  if (socket.getSendQueueSize() > MOST_WAITING) return;
  const sent = (error: Error | null) => {
    if (error) failed(error);
  };
  if (to) socket.send(datagram, to.port, to.address, sent);
  else socket.send(datagram, sent);
}
