import { parseVirtualServers } from '../../../../src/diagnostics/adapters/compare/dump-sides.js';
import { serverLines } from '../../../../src/domain/ipvs/virtual-server.js';

it.each([
  [['-A -t 10.96.0.9:80 -s rr', '-a -t 10.96.0.9:80 -r 10.244.1.5:8080 -m -w 0']],
  [['-A -u [fd00::9]:53 -s sh -b sh-fallback']],
  [['-A -t 10.96.0.9:80 -s sh -p 600 -b sh-fallback,sh-port']],
  [['-A --sctp-service 10.96.0.9:80 -s mh -b mh-fallback,mh-port']],
  [['-A -t 10.96.0.9:80 -s mh -b mh-port']],
])('reads what ipvsadm prints: %j', (lines) => {
  const servers = [...parseVirtualServers(lines.join('\n')).values()];
  expect(serverLines(servers.map(({ server, realServers }) => ({ server, endpoints: realServers })))).toEqual(
    lines,
  );
});

it('leaves out virtual servers by firewall mark, of either family', () => {
  const marked = ['-A -f 5 -s rr', '-a -f 5 -r 192.0.2.9:0 -g -w 1', '-A -f 6 -6 -s wlc'];
  const own = '-A -t 10.96.0.9:80 -s rr';
  expect([...parseVirtualServers([...marked, own].join('\n')).keys()]).toEqual(['10.96.0.9:80/TCP']);
});

it('rejects a line that ipvsadm never prints', () => {
  expect(() => parseVirtualServers('-A -x 10.96.0.9:80')).toThrow('is no line of `ipvsadm -S -n`');
});
