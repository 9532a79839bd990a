// What node makes of texts: lines of name, number of the text, and result in hexadecimal digits.
const util = require("util");
const querystring = require("querystring");
const encodings = {
  "JSON.stringify": JSON.stringify,
  "JSON twice": (s) => JSON.stringify(JSON.stringify({ a: s })),
  "JSON indented": (s) => JSON.stringify({ a: [s] }, null, 2),
  encodeURIComponent,
  encodeURI,
  escape,
  "URLSearchParams": (s) => new URLSearchParams({ p: s }).toString(),
  "querystring": (s) => querystring.stringify({ p: s }),
  "inspect": (s) => util.inspect({ a: s }),
  "template in quotes": (s) => "`" + s.replace(/[`\\$]/g, "\\$&") + "`",
  "base64": (s) => Buffer.from(s).toString("base64"),
  "base64url": (s) => Buffer.from(s).toString("base64url"),
  "hex": (s) => Buffer.from(s).toString("hex"),
};
require("fs").readFileSync(0, "utf8").trim().split("\n").forEach((line, number) => {
  const given = Buffer.from(line, "hex").toString();
  for (const [name, encode] of Object.entries(encodings))
    console.log([name, number, Buffer.from(encode(given)).toString("hex")].join("\t"));
  console.log(["utf16le", number, Buffer.from(given, "utf16le").toString("hex")].join("\t"));
});
