/** A web server that answers with its name: `node backend.mjs NAME ADDRESS PORT`. Ends when its input is closed. */
import { createServer } from 'node:http';

const [name, address, port] = process.argv.slice(2);
createServer((_request, response) => response.end(`${name}\n`)).listen(Number(port), address, () =>
  console.log('ready'),
);
process.stdin.resume().on('end', () => process.exit());
