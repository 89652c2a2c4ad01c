import { Programs, type ProgramWrite } from './programs.js';

const CHAIN = '*nat\n:KUBE-A - [0:0]\nCOMMIT\n';

describe('writes of programs', () => {
  const told = (run: (programs: Programs) => void): readonly ProgramWrite[] => {
    const programs = new Programs({ standard: 'nft' });
    const writes: ProgramWrite[] = [];
    programs.onWrite((write) => writes.push(write));
    run(programs);
    return writes;
  };

  it('are told, whether they are taken or not', () => {
    const writes = told((programs) => {
      programs.run(['iptables-nft-restore', '-w', '5', '--noflush'], CHAIN);
      programs.run(['/usr/sbin/ip6tables-legacy-restore'], '*nat\n-A KUBE-B\nCOMMIT\n');
      programs.run(['ipset', '-exist', 'restore'], 'create S hash:ip\n');
      programs.run(['ipset', 'restore'], 'add NONE 10.0.0.1\n');
    });
    expect(writes).toEqual([
      { program: 'iptables', isTaken: true },
      { program: 'ip6tables', isTaken: false },
      { program: 'ipset', isTaken: true },
      { program: 'ipset', isTaken: false },
    ]);
  });

  it('are not what only reads, tests or happens elsewhere', () => {
    const writes = told((programs) => {
      programs.run(['iptables-nft-save']);
      programs.run(['ipset', 'save']);
      programs.run(['iptables-nft-restore', '--test'], CHAIN);
      programs.run(['unshare', '--net', 'iptables-nft-restore'], CHAIN);
    });
    expect(writes).toEqual([]);
  });
});
