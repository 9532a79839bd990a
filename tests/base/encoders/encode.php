<?php
// What PHP makes of texts: lines of name, number of the text, and result in hexadecimal digits.
$encodings = [
    'json' => fn($s) => json_encode($s),
    'json plain' => fn($s) => json_encode($s, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE),
    'json for html' => fn($s) => json_encode([$s], JSON_HEX_TAG | JSON_HEX_APOS | JSON_HEX_QUOT | JSON_HEX_AMP),
    'urlencode' => fn($s) => urlencode($s),
    'rawurlencode' => fn($s) => rawurlencode($s),
    'http_build_query' => fn($s) => http_build_query(['p' => $s]),
    'htmlspecialchars' => fn($s) => htmlspecialchars($s),
    'htmlentities' => fn($s) => htmlentities($s, ENT_QUOTES | ENT_HTML5),
    'xml' => fn($s) => htmlspecialchars($s, ENT_QUOTES | ENT_XML1),
    'addslashes' => fn($s) => addslashes($s),
    'var_export' => fn($s) => var_export([$s], true),
    'serialize' => fn($s) => serialize($s),
    'escapeshellarg' => fn($s) => escapeshellarg($s),
    'base64' => fn($s) => base64_encode($s),
    'chunks' => fn($s) => chunk_split(base64_encode($s . $s . $s), 20),
    'hex' => fn($s) => bin2hex($s),
];
foreach (file('php://stdin', FILE_IGNORE_NEW_LINES) as $number => $line) {
    foreach ($encodings as $name => $encode) {
        echo $name, "\t", $number, "\t", bin2hex($encode(hex2bin($line))), "\n";
    }
}
