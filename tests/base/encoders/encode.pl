# What Perl makes of texts: lines of name, number of the text, and result in hexadecimal digits.
use strict;
use warnings;
use Encode qw(decode encode);
use JSON::PP;
use Data::Dumper;
use MIME::Base64 qw(encode_base64);
$Data::Dumper::Terse = 1;

my %encodings = (
    'JSON::PP' => sub { JSON::PP->new->allow_nonref->encode($_[0]) },
    'JSON::PP ascii' => sub { JSON::PP->new->allow_nonref->ascii->encode($_[0]) },
    'JSON::PP pretty' => sub { JSON::PP->new->pretty->encode({ a => [$_[0]] }) },
    'Data::Dumper' => sub { local $Data::Dumper::Useqq = 0; Dumper(encode('UTF-8', $_[0])) },
    'Data::Dumper in quotes' => sub { local $Data::Dumper::Useqq = 1; Dumper($_[0]) },
    'quotemeta' => sub { quotemeta(encode('UTF-8', $_[0])) },
    'uri' => sub { my $s = encode('UTF-8', $_[0]); $s =~ s/([^A-Za-z0-9_.~-])/sprintf('%%%02X', ord $1)/ge; $s },
    'base64' => sub { encode_base64(encode('UTF-8', $_[0]) x 4) },
    'hex' => sub { unpack('H*', encode('UTF-8', $_[0])) },
);
my $number = 0;
while (my $line = <STDIN>) {
    chomp $line;
    my $given = decode('UTF-8', pack('H*', $line));
    for my $name (sort keys %encodings) {
        my $made = $encodings{$name}->($given);
        print join("\t", $name, $number, unpack('H*', utf8::is_utf8($made) ? encode('UTF-8', $made) : $made)), "\n";
    }
    $number++;
}
