echo link
