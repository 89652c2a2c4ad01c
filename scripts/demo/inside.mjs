// Runs inside the demo's node: passes connections to a socket of the file system on to the page of the proxy there.
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

const [socket, port] = process.argv.slice(2);
createServer((outside) => {
  const inside = connect(Number(port), '127.0.0.1');
  // Either end may leave at any time.
  pipeline(outside, inside, outside, () => {});
}).listen(socket, () => console.log('listening'));
